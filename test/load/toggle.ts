/** Toggles enforcement every 300 ms under 2,000 requests/s for a minute. Exits with 1 if a request did not get the right answer. */
import { CountingSink } from '../gateway/counting-sink.ts'
import { ProcessGateway } from '../gateway/process-gateway.ts'
import { faultsOf, toggleUnderLoad } from '../gateway/toggling.ts'

await using sink = await CountingSink.start()
await using gateway = await ProcessGateway.start({ upstream: sink.url })
const result = await toggleUnderLoad(gateway, { perSecond: 2_000, toggles: 200, everyMs: 300 })
const { withToken, without } = result
const faults = faultsOf(result, sink)
console.log(`requests            ${withToken.sent} with a token, ${without.sent} without`)
console.log(`answers             ${JSON.stringify(withToken.answers)} and ${JSON.stringify(without.answers)}`)
console.log(`checked strictly    ${result.checkedOn} under enforcement, ${result.checkedOff} without`)
console.log(`slowest change      ${result.slowestChangeMs.toFixed(1)} ms`)
console.log(`p99 with a token    ${withToken.p99Ms.toFixed(1)} ms`)
console.log(faults.length === 0 ? 'every request obeyed' : faults.join('\n'))
process.exitCode = faults.length === 0 ? 0 : 1
