// The store and its receiver in a process of their own, to be killed. Arguments: file, credential.
import { observeServer, openObserve } from '@penstock/observe'

const [file, credential] = process.argv.slice(2)
const store = await openObserve({ file })
console.log((await observeServer(store, { credential })).url)
