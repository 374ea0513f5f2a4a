/** Returns a duration as text: `0.3 s`, `13.6 s`, `4m 22s`, `1h 02m`. Spans shorter than 0.1 s are shown in ms or µs. */
export function durationText(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return '–'
  if (seconds < 0) return `−${durationText(-seconds)}`
  if (seconds === 0) return '0 s'
  if (seconds < 0.000_999_5) return `${rounded(seconds * 1e6)} µs`
  if (seconds < 0.099_5) return `${rounded(seconds * 1e3)} ms`
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
  const hours = Math.round(seconds / 3600)
  return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`
}

/** Returns a difference of durations with its sign: `+48.0 s`, `−1m 05s`. */
export function differenceText(seconds: number): string {
  return seconds > 0 ? `+${durationText(seconds)}` : durationText(seconds)
}

/** Returns the seconds of a duration in nanoseconds, given as text. */
export function toSeconds(nanoseconds: string | null | undefined): number | null {
  return nanoseconds == null ? null : Number(nanoseconds) / 1e9
}

function rounded(value: number): string {
  return value < 9.95 ? value.toFixed(1) : value.toFixed(0)
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
