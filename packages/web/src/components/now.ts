import { signal } from '@preact/signals'

/** The time of the page, in milliseconds. It moves every 30 s, so that relative times stay true. */
export const nowMs = signal(Date.now())

setInterval(() => {
  nowMs.value = Date.now()
}, 30_000)
