// Runs the store and its receiver in a process that tests can kill. Arguments: file, credential.
import { observeServer, openObserve } from '@penstock/observe'

const [file, credential] = process.argv.slice(2)
const store = await openObserve({ file })
console.log((await observeServer(store, { credential })).url)
