// What the server replies, as src/headlight/web/replies.py has it; a test compares both.
// Written by `python -m tests.web.reply_types`.

/**
 * Why there is no answer, in a sentence for people, and what kind of mistake it was.
 * @typedef {object} Refused
 * @property {string} error
 * @property {string} kind
 */

/**
 * A stretch of text with its score; `share` is of the largest, `positions` the tokens that it covers.
 * @typedef {object} Shown
 * @property {string} text
 * @property {string} before
 * @property {number} score
 * @property {number} share
 * @property {boolean} special
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
 * What the model decided, and what of it was explained; no probabilities of a regression.
 * @typedef {object} Decided
 * @property {string[]} labels
 * @property {number[] | null} probabilities
 * @property {string} predicted
 * @property {string} explained
 * @property {number} logit
 * @property {number | null} probability
 */

/**
 * One method's answer; `data` is the stored form of docs/format.md.
 * @typedef {object} Attributed
 * @property {Shown[]} pieces
 * @property {Shown[]} words
 * @property {string} method
 * @property {boolean} signed
 * @property {string[]} notes
 * @property {Record<string, any>} data
 */

/**
 * Methods side by side; `failures` says why a method gave no answer.
 * @typedef {object} Explanation
 * @property {Decided} prediction
 * @property {string[]} tokens
 * @property {Attributed[]} attributions
 * @property {Record<string, string>} failures
 */

/**
 * The probability of the explained label before and after tokens were taken away.
 * @typedef {object} ProbabilityChange
 * @property {string} label
 * @property {number} before
 * @property {number} after
 * @property {string | null} predicted
 */

/**
 * How far a method can be trusted on this text, and the mean probability that it and chance leave.
 * @typedef {object} TrustVerdict
 * @property {"unknown" | "poor" | "fair" | "good"} level
 * @property {string} sentence
 * @property {number} mean
 * @property {number} random_mean
 */

/**
 * How the probability falls in the order of a method, and the verdict on that.
 * @typedef {object} Curve
 * @property {string} method
 * @property {number[]} probabilities
 * @property {number} aopc
 * @property {TrustVerdict} trust
 */

/**
 * How it falls in random orders: the mean, and the middle four fifths.
 * @typedef {object} RandomCurve
 * @property {number[]} probabilities
 * @property {number[]} low
 * @property {number[]} high
 * @property {number} aopc
 */

/**
 * Deletion curves over the shares of the tokens that were taken away.
 * @typedef {object} DeletionCurves
 * @property {string} label
 * @property {number[]} levels
 * @property {Curve[]} curves
 * @property {RandomCurve} random
 * @property {Record<string, string>} failures
 */

/**
 * A method at one layer, in shares of the largest score of any layer.
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
 * matrix[i][j]: how much of input token j is in token i; `layer` is 1 to `layers`.
 *
 * largest: the value that has the strongest colour.
 * @typedef {object} Mixed
 * @property {string} method
 * @property {number} layer
 * @property {number} layers
 * @property {string[]} tokens
 * @property {number[][]} matrix
 * @property {number} largest
 */

/**
 * matrix[o][i]: the score of input token i for output token o; inputs are the prompt and outputs before.
 *
 * largest: the score that has the strongest colour; the first token is not in the scale.
 * @typedef {object} Generated
 * @property {string} method
 * @property {boolean} signed
 * @property {string[]} prompt
 * @property {string[]} output
 * @property {number[][]} matrix
 * @property {number} largest
 */

/**
 * The heads of a model, [layer][head]: what each is kept as, what it does, whether the mask has it.
 * @typedef {object} HeadMap
 * @property {number} layers
 * @property {number} heads
 * @property {((string | null)[])[]} kinds
 * @property {string[][][]} roles
 * @property {boolean[][]} open
 */

/**
 * A text that a model reads, and what the page calls it.
 * @typedef {object} TextField
 * @property {"text" | "pair"} name
 * @property {string} label
 * @property {boolean} optional
 */

/**
 * A text, or a pair of texts, to start with.
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
 * @property {number} layers
 * @property {number} heads
 * @property {boolean} has_heads
 * @property {boolean} has_mask
 * @property {string[]} methods
 * @property {string} default_method
 * @property {string[]} layered
 * @property {string[]} mixing
 * @property {string[]} changes
 * @property {ExampleText[]} examples
 */

/**
 * What the page shows of a method.
 * @typedef {object} MethodFacts
 * @property {string} name
 * @property {string} summary
 * @property {boolean} signed
 * @property {string} paper
 * @property {"fast" | "slow"} cost
 */

/**
 * What people call the colours.
 * @typedef {object} ToneNames
 * @property {string} positive
 * @property {string} negative
 * @property {string} unsigned
 * @property {string} more
 * @property {string} less
 */

/**
 * Colours as CSS writes them, of scores and, by kind, of heads.
 *
 * strongest: the opacity of the largest score. marked: signed shares below this are marked by more than
 * colour.
 * @typedef {object} PaletteFacts
 * @property {string} positive
 * @property {string} negative
 * @property {string} unsigned
 * @property {string} more
 * @property {string} less
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
 * The mean of a metric for a method with its interval.
 * @typedef {object} Cell
 * @property {string} method
 * @property {number | null} mean
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} count
 * @property {boolean} best
 */

/**
 * A metric, which values of it are better, and its value for every method.
 * @typedef {object} MetricRow
 * @property {string} metric
 * @property {string} better
 * @property {Cell[]} cells
 */

/**
 * What was run, and what came out.
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
 * The mean curves of a metric, and what its axes are.
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
