// The entry point of the thread that copies committed pages from the write-ahead log into the file of a database.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { isBusy } from './is-busy.ts'

const port: MessagePort = parentPort!
const database = new Sqlite(workerData as string, { fileMustExist: true, timeout: 0 })
port.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'close') {
    database.close()
    port.close()
    return
  }
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } catch (error) {
    // Another process does the same. What is left is copied the next time.
    if (!isBusy(error)) throw error
  }
  port.postMessage('done')
})
port.postMessage('open')
