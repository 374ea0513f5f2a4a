const NS_PER_SECOND = 1_000_000_000n

/** Returns a duration with at most two units: `173ms`, `31.7s`, `4m 57s`, `1h 02m`, `2d 03h`. */
export function formatDuration(ns: bigint): string {
  const seconds = Number(ns) / Number(NS_PER_SECOND)
  if (seconds < 0.9995) return ns === 0n ? '0s' : `${Math.max(Math.round(seconds * 1_000), 1)}ms`
  if (seconds < 59.95) return `${seconds.toFixed(1)}s`
  const whole = Math.round(seconds)
  const [minutes, hours, days] = [Math.floor(whole / 60), Math.floor(whole / 3_600), Math.floor(whole / 86_400)]
  if (hours === 0) return `${minutes}m ${twoDigits(whole % 60)}s`
  if (days === 0) return `${hours}h ${twoDigits(minutes % 60)}m`
  return `${days}d ${twoDigits(hours % 24)}h`
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** Returns a time such as `2026-02-11 09:20:14 UTC`. */
export function formatTime(ns: bigint): string {
  const date = new Date(Number(ns / 1_000_000n))
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
