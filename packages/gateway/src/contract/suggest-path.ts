import { type IngestSignal, type IngestSignalRow, ingestSignalNames, ingestSignals } from './signals.ts'
import type { PathSuggestion } from './wrong-path.ts'

/** The words in paths that are meant for a signal. */
const words: Readonly<Record<IngestSignal, RegExp>> = {
  traces: /trace|span/,
  metrics: /metric/,
  logs: /logs|\blog\b/,
  profiles: /profile/,
}

/**
 * Suggests the right path for a wrong one: that of the signal that its last segment names, or else that of the only signal that
 * the whole path names, or else the paths of all signals. `key` selects the paths of HTTP or the methods of gRPC.
 */
export function suggestPath(path: string, key: keyof IngestSignalRow = 'httpPath'): PathSuggestion {
  const lower = path.toLowerCase()
  const last = lower.slice(lower.replace(/\/+$/, '').lastIndexOf('/') + 1)
  const signal = onlySignalIn(last) ?? onlySignalIn(lower)
  const meant = signal === undefined ? ingestSignalNames : [signal]
  return { signal, paths: meant.map((name) => ingestSignals[name][key]) }
}

/** Returns the text for the client. It is the same whether its token is valid or not. */
export function describeSuggestion({ signal, paths }: PathSuggestion): string {
  if (signal !== undefined) return `Send ${signal} to ${paths[0]}.`
  return `Send telemetry to ${paths.slice(0, -1).join(', ')} or ${paths.at(-1)}.`
}

function onlySignalIn(text: string): IngestSignal | undefined {
  const named = ingestSignalNames.filter((signal) => words[signal].test(text))
  return named.length === 1 ? named[0] : undefined
}
