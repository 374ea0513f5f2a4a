export { exceededJsonLimit, type JsonLimit, type JsonLimits, JsonScanner } from './json-scanner.ts'
