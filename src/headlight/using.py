"""Methods with their options, as an editor shows and checks them.

    headlight.explain(model, text, headlight.using.lime(samples=500, seed=1))

This is the same as "lime:samples=500,seed=1". Options whose default depends on the model (mask, baseline,
decoder, layer, base) may be left out.
"""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from headlight import methods as of
from headlight.registry.entries import Specification
from headlight.trace.trace import Trace

Options = ParamSpec("Options")


def method(
    function: Callable[Concatenate[Trace, Options], Any],
) -> Callable[Options, Specification]:
    """A function that takes the options of a method and returns its specification."""

    def using(*args: Options.args, **options: Options.kwargs) -> Specification:
        assert not args, "options are given by name"
        return Specification(function.__name__, options)

    using.__doc__, using.__name__ = function.__doc__, function.__name__
    return using


raw_attention = method(of.attention.raw_attention)
rollout = method(of.attention.rollout)
grads = method(of.attention.grads)
attention_gradcam = method(of.attention.attention_gradcam)
att_grads = method(of.attention.att_grads)
grad_sam = method(of.attention.grad_sam)
gae = method(of.attention.gae)
attention_flow = method(of.attention_flow.attention_flow)
grad_cam = method(of.decoded.grad_cam)
decoded_grad_cam = method(of.decoded.decoded_grad_cam)
decoded_simple = method(of.decoded.decoded_simple)
alti = method(of.decomposition.alti)
alti_ln2 = method(of.decomposition.alti_ln2)
norms = method(of.decomposition.norms)
globenc = method(of.decomposition.globenc)
deeplift = method(of.deeplift.deeplift)
deeplift_shap = method(of.deeplift.deeplift_shap)
cat = method(of.gradient.cat)
attcat = method(of.gradient.attcat)
gradient_l2 = method(of.gradient.gradient_l2)
input_x_gradient = method(of.gradient.input_x_gradient)
input_x_gradient_l2 = method(of.gradient.input_x_gradient_l2)
input_x_gradient_mean = method(of.gradient.input_x_gradient_mean)
simple = method(of.gradient.simple)
integrated_gradients = method(of.integrated_gradients.integrated_gradients)
integrated_gradients_l2 = method(of.integrated_gradients.integrated_gradients_l2)
integrated_gradients_mean = method(of.integrated_gradients.integrated_gradients_mean)
attn_lrp = method(of.modified_gradient.attn_lrp)
cp_lrp = method(of.modified_gradient.cp_lrp)
libragrad = method(of.modified_gradient.libragrad)
gim = method(of.modified_gradient.gim)
modified_gradient = method(of.modified_gradient.modified_gradient)
peel = method(of.peel.peel)
occlusion = method(of.perturbation.occlusion)
shapley = method(of.perturbation.shapley)
lime = method(of.perturbation.lime)
random = method(of.random.random)
lrp = method(of.relevance.lrp)
partial_lrp = method(of.relevance.partial_lrp)
transformer_attribution = method(of.relevance.transformer_attribution)
mask_lrp = method(of.relevance.mask_lrp)
random_mask_lrp = method(of.relevance.random_mask_lrp)
smooth_gradient = method(of.sampled_gradients.smooth_gradient)
gradient_shap = method(of.sampled_gradients.gradient_shap)
