// Preloaded by a process to end it as `kill -9` does, before one of its calls that move or remove files. Prints their number at the end.
import { writeSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'

const killAt = Number(process.env.KILL_AT_CALL)
let calls = 0

function counted(call) {
  return (...args) => {
    calls += 1
    if (calls === killAt) process.kill(process.pid, 'SIGKILL')
    return call(...args)
  }
}

// Contents are replaced by renaming, and discarded by removing them.
for (const name of ['rename', 'rm']) promises[name] = counted(promises[name])
syncBuiltinESMExports()

process.on('exit', () => writeSync(2, `calls of the file system: ${calls}\n`))
