export { jsonExcess } from './json-excess.ts'
export { exceededJsonLimit, type JsonLimit, type JsonLimits, JsonScanner, unlimitedJson } from './json-scanner.ts'
export { recordJsonLimits } from './record-json-limits.ts'
