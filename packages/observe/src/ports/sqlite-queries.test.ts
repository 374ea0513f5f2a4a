import { ManualClock } from '@penstock/testkit'
import type { Body } from '../observe-bodies.harness.ts'
import { filledStore } from '../one-thread-store.harness.ts'
import { observeQueriesCase } from './observe-queries.case.ts'

const open = (bodies: readonly Body[]) => filledStore(new ManualClock(1_767_225_600_000), bodies)

observeQueriesCase('the embedded store', { open, reference: open })
