/** Returns a uniformly distributed number in [0, 1), like `Math.random`. */
export type Random = () => number
