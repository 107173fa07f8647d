// What the server replies, as src/headlight/web/replies.py has it; a test compares both.
// Written by `python -m tests.web.reply_types`.

/**
 * Why there is no answer, in a sentence, and the kind of error.
 * @typedef {object} Refused
 * @property {string} error
 * @property {string} kind
 */

/**
 * A stretch of text with its score; `positions`: the tokens it covers.
 *
 * share: of the largest score in the scale, beyond ±1 only outside it. in_scale: whether it sets the scale.
 * @typedef {object} Shown
 * @property {string} text
 * @property {string} before
 * @property {number} score
 * @property {number} share
 * @property {boolean} special
 * @property {boolean} in_scale
 * @property {number[]} positions
 * @property {number | null} segment
 */

/**
 * The same scores by token and by word.
 * @typedef {object} Views
 * @property {Shown[]} pieces
 * @property {Shown[]} words
 */

/**
 * What the model decided and which label was explained; a regression has no probabilities.
 * @typedef {object} Decided
 * @property {string[]} labels
 * @property {number[] | null} probabilities
 * @property {string} predicted
 * @property {string} explained
 * @property {number} logit
 * @property {number | null} probability
 */

/**
 * The scores of one method; `data` is the stored form (docs/format.md).
 * @typedef {object} Attributed
 * @property {Shown[]} pieces
 * @property {Shown[]} words
 * @property {string} method
 * @property {boolean} signed
 * @property {string[]} notes
 * @property {Record<string, any>} data
 */

/**
 * The scores of several methods; `failures` says why a method gave none.
 * @typedef {object} Explanation
 * @property {Decided} prediction
 * @property {string[]} tokens
 * @property {Attributed[]} attributions
 * @property {Record<string, string>} failures
 */

/**
 * The probability of the explained label before and after tokens were removed.
 * @typedef {object} ProbabilityChange
 * @property {string} label
 * @property {number} before
 * @property {number} after
 * @property {string | null} predicted
 */

/**
 * How far to trust a method on this text, and the mean probability left by it and by random orders.
 * @typedef {object} TrustVerdict
 * @property {"unknown" | "poor" | "fair" | "good"} level
 * @property {string} sentence
 * @property {string} numbers
 * @property {number} mean
 * @property {number} random_mean
 */

/**
 * How the probability falls in the order of a method, and the verdict on the method.
 * @typedef {object} Curve
 * @property {string} method
 * @property {number[]} probabilities
 * @property {number} aopc
 * @property {TrustVerdict} trust
 */

/**
 * How the probability falls in random orders: the mean, and the middle 80 %.
 * @typedef {object} RandomCurve
 * @property {number[]} probabilities
 * @property {number[]} low
 * @property {number[]} high
 * @property {number} aopc
 */

/**
 * Deletion curves; `levels` are the shares of tokens removed.
 * @typedef {object} DeletionCurves
 * @property {string} label
 * @property {number[]} levels
 * @property {Curve[]} curves
 * @property {RandomCurve} random
 * @property {Record<string, string>} failures
 */

/**
 * The scores of a method at one layer; shares are of the largest score of any layer.
 * @typedef {object} Layer
 * @property {Shown[]} pieces
 * @property {Shown[]} words
 * @property {number} layer
 */

/**
 * A method layer by layer, and as a whole.
 * @typedef {object} Layered
 * @property {string} method
 * @property {boolean} signed
 * @property {Layer[]} layers
 * @property {Views} whole
 */

/**
 * matrix[i][j]: how much of input token j is in output token i; `layer` is 1 to `layers`.
 *
 * largest: the value with the strongest colour. note: which columns are not in the scale.
 * @typedef {object} Mixed
 * @property {string} method
 * @property {number} layer
 * @property {number} layers
 * @property {string[]} tokens
 * @property {number[][]} matrix
 * @property {number} largest
 * @property {string} note
 */

/**
 * matrix[o][i]: the score of input token i for output token o; inputs are the prompt and earlier outputs.
 *
 * largest: the score with the strongest colour; largest_by_row: the same for every output token alone.
 * special, in_scale: of the inputs, as in `Shown`. note: which inputs are not in the scale.
 * @typedef {object} Generated
 * @property {string} method
 * @property {boolean} signed
 * @property {string[]} prompt
 * @property {string[]} output
 * @property {number[][]} matrix
 * @property {number} largest
 * @property {number[]} largest_by_row
 * @property {boolean[]} special
 * @property {boolean[]} in_scale
 * @property {string} note
 */

/**
 * What a model has written of an answer; `is_done` in the last line.
 * @typedef {object} WrittenSoFar
 * @property {string} answer
 * @property {boolean} is_done
 */

/**
 * A stretch of a prompt: a source, a turn of a chat, or what stands between; `source` is its number.
 * @typedef {object} ReadBlock
 * @property {string} name
 * @property {number | null} source
 */

/**
 * A word of a prompt, the spaces before it, and its block. in_scale: whether it sets the scale.
 * @typedef {object} ReadWord
 * @property {string} text
 * @property {string} before
 * @property {number} block
 * @property {boolean} in_scale
 */

/**
 * A source of a prompt.
 * @typedef {object} ReadSource
 * @property {string} name
 * @property {boolean} in_scale
 */

/**
 * To which word and source of the prompt a token belongs; is_own: it is one of the answer.
 * @typedef {object} ReadToken
 * @property {number | null} word
 * @property {number | null} source
 * @property {boolean} is_own
 */

/**
 * The choice of the first token of a word: its name, and how many characters of the text come before it.
 * @typedef {object} WordChoice
 * @property {number} end
 * @property {string} target
 */

/**
 * A word of an answer, the spaces before it, its sentence, and its choice as a question of its own.
 *
 * choice: null if a plain text before it is not read as the same tokens, or is too long.
 * @typedef {object} SaidWord
 * @property {string} text
 * @property {string} before
 * @property {number | null} sentence
 * @property {WordChoice | null} choice
 */

/**
 * An explained part of an answer: a word, or a whole sentence, which has no word.
 * @typedef {object} SaidPart
 * @property {number | null} word
 * @property {number | null} sentence
 * @property {number} log_probability
 */

/**
 * scores[p][t]: the score of token t for part p of the answer; whoever shows them adds up what is shown.
 *
 * text: prompt and answer as the model read them.
 * @typedef {object} ExplainedAnswer
 * @property {string} text
 * @property {string} method
 * @property {boolean} signed
 * @property {string[]} notes
 * @property {ReadBlock[]} blocks
 * @property {ReadWord[]} words
 * @property {ReadSource[]} sources
 * @property {ReadToken[]} tokens
 * @property {SaidWord[]} said
 * @property {SaidPart[]} parts
 * @property {number[][]} scores
 */

/**
 * A token of an answer, and its probability with and without some sources.
 * @typedef {object} FallenToken
 * @property {string} text
 * @property {number} before
 * @property {number} after
 */

/**
 * The log-probability of an answer with and without some sources; `fallen`: its tokens that lost most.
 * @typedef {object} AnswerChange
 * @property {number} before
 * @property {number} after
 * @property {number} tokens
 * @property {FallenToken[]} fallen
 */

/**
 * The heads of a model, [layer][head]: the kind of each, what it does, whether the mask keeps it.
 * @typedef {object} HeadMap
 * @property {number} layers
 * @property {number} heads
 * @property {((string | null)[])[]} kinds
 * @property {string[][][]} roles
 * @property {boolean[][]} open
 */

/**
 * The explained number and the decision, before and after heads are switched off.
 *
 * unit: what the number is. off: how many of the heads are off.
 * @typedef {object} WithoutHeads
 * @property {string} label
 * @property {"probability" | "value"} unit
 * @property {number} before
 * @property {number} after
 * @property {string} predicted_before
 * @property {string} predicted_after
 * @property {number} off
 * @property {number} heads
 */

/**
 * A text that a model reads, and what the page calls it.
 * @typedef {object} TextField
 * @property {"text" | "pair"} name
 * @property {string} label
 * @property {boolean} optional
 */

/**
 * An example text, or a pair of texts.
 * @typedef {object} ExampleText
 * @property {string} text
 * @property {string | null} pair
 */

/**
 * What the page shows and offers for a model.
 * @typedef {object} ModelFacts
 * @property {string} name
 * @property {string} title
 * @property {string} task
 * @property {TextField[]} fields
 * @property {string[] | null} labels
 * @property {string | null} target_hint
 * @property {boolean} generates
 * @property {boolean} chats
 * @property {number} layers
 * @property {number} heads
 * @property {boolean} has_heads
 * @property {boolean} has_mask
 * @property {boolean} switches_heads
 * @property {string[]} methods
 * @property {string} default_method
 * @property {string[]} layered
 * @property {string[]} mixing
 * @property {string[]} changes
 * @property {ExampleText[]} examples
 */

/**
 * What the page shows about a method.
 * @typedef {object} MethodFacts
 * @property {string} name
 * @property {string} summary
 * @property {boolean} signed
 * @property {string} paper
 * @property {"fast" | "slow"} cost
 */

/**
 * The everyday names of the colours.
 * @typedef {object} ToneNames
 * @property {string} positive
 * @property {string} negative
 * @property {string} unsigned
 * @property {string} more
 * @property {string} less
 * @property {string} beyond
 */

/**
 * CSS colours of scores and of kinds of heads.
 *
 * beyond: of scores beyond the scale. strongest: the opacity of the largest score. marked: signed shares
 * below this are marked by more than colour.
 * @typedef {object} PaletteFacts
 * @property {string} positive
 * @property {string} negative
 * @property {string} unsigned
 * @property {string} more
 * @property {string} less
 * @property {string} beyond
 * @property {Record<string, string>} heads
 * @property {ToneNames} names
 * @property {number} strongest
 * @property {number} marked
 */

/**
 * The models, methods, runs and limits of a server.
 * @typedef {object} About
 * @property {string} version
 * @property {Record<string, number>} limits
 * @property {ModelFacts[]} models
 * @property {string[]} loading
 * @property {Record<string, string>} failed
 * @property {MethodFacts[]} methods
 * @property {string[]} runs
 * @property {PaletteFacts} palette
 */

/**
 * The mean of a metric for a method, with its interval.
 * @typedef {object} Cell
 * @property {string} method
 * @property {number | null} mean
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} count
 * @property {boolean} best
 */

/**
 * A metric, whether higher or lower is better, and its value for every method.
 * @typedef {object} MetricRow
 * @property {string} metric
 * @property {string} better
 * @property {Cell[]} cells
 */

/**
 * What was run, and its results.
 * @typedef {object} Run
 * @property {string} name
 * @property {string} model
 * @property {string} data
 * @property {number} count
 * @property {number | null} accuracy
 * @property {string[]} methods
 * @property {string[]} metrics
 * @property {number} missing
 * @property {number} failures
 * @property {string[]} curved
 * @property {MetricRow[]} table
 */

/**
 * The mean curve of a metric for a method.
 * @typedef {object} MeanCurve
 * @property {string} method
 * @property {number[]} levels
 * @property {number[]} means
 */

/**
 * The mean curves of a metric, and the labels of the axes.
 * @typedef {object} MeanCurves
 * @property {string} metric
 * @property {string} x
 * @property {string} y
 * @property {MeanCurve[]} curves
 */

/**
 * An example with the scores of two methods; `disagreement` is 1 − Spearman's ρ.
 * @typedef {object} Compared
 * @property {number} number
 * @property {number} disagreement
 * @property {string | null} gold
 * @property {string} predicted
 * @property {string} label
 * @property {Shown[]} first
 * @property {Shown[]} second
 */

/**
 * A page of examples, the most different first; `total` counts all pages.
 * @typedef {object} Disagreements
 * @property {number} total
 * @property {Compared[]} examples
 */

export {};
