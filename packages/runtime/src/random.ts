/** Uniform in [0, 1), as `Math.random` is. */
export type Random = () => number
