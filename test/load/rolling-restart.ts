/** Restarts two gateways behind nginx one after the other under 2,000 requests/s, with the drain delay of production. */
import { rollingRestart } from '../gateway/rolling.ts'

const { load, exitCodes, faults, duplicates } = await rollingRestart({ perSecond: 2_000, drainDelayMs: 5_000 })
console.log(`requests            ${load.sent}`)
console.log(`answers             ${JSON.stringify(load.answers)}`)
console.log(`arrived twice       ${duplicates}`)
console.log(`p99, slowest        ${load.p99Ms.toFixed(1)} ms, ${load.slowestMs.toFixed(0)} ms`)
console.log(`exit codes          ${exitCodes.join(', ')}`)
console.log(faults.length === 0 ? '0 lost, 0 refused for good' : faults.join('\n'))
process.exitCode = faults.length === 0 && exitCodes.every((code) => code === 0) ? 0 : 1
