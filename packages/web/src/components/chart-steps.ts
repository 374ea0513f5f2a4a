/** Distances of grid lines that read well for seconds: 1, 2, 5, 10, 15, 30 s, then minutes and hours. */
export const secondSteps: readonly number[] = [
  ...[0.000_01, 0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 4, 5, 10, 15, 20, 30].map((minutes) => minutes * 60),
  ...[1, 2, 4, 6, 12, 24, 48, 96, 240].map((hours) => hours * 3600),
]

/** Grid lines of a logarithmic axis of seconds: about ten times apart, and readable as durations. */
export const logarithmicSteps: readonly number[] = [
  ...[0.000_001, 0.000_01, 0.000_1, 0.001, 0.01, 0.1],
  ...[1, 10, 60, 600, 3600, 36_000, 360_000],
]

/** Returns a duration of a grid line without digits that are zero: `8m`, `30 s`, `2h`. */
export function gridText(seconds: number): string {
  if (seconds === 0) return '0'
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`
  if (seconds < 1) return `${Math.round(seconds * 1e3)} ms`
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return seconds % 60 === 0 ? `${seconds / 60}m` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`
  return `${Math.round((seconds / 3600) * 10) / 10}h`
}
