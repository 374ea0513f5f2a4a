export * from './arbitraries.ts'
export { Gate } from './gate.ts'
export { ManualClock } from './manual-clock.ts'
export { type RecordedRequest, refusedUrl, type ScriptedReply, ScriptedServer } from './scripted-server.ts'
