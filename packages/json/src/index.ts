export { jsonExcess } from './json-excess.ts'
export { heaviestMember, jsonParts, MAX_ANSWER_BYTES } from './json-parts.ts'
export { exceededJsonLimit, type JsonLimit, type JsonLimits, JsonScanner, unlimitedJson } from './json-scanner.ts'
export { recordJsonLimits } from './record-json-limits.ts'
