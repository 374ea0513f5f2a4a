// Preloaded with `--import`, in the process and in its threads: the system's clock begins at START_TIME, so that everything which depends on
// the day is the same in every run.
import process from 'node:process'

const SystemDate = Date
const shiftMs = SystemDate.parse(process.env.START_TIME) - Number(process.env.START_TIME_SET_AT)

globalThis.Date = class extends SystemDate {
  constructor(...values) {
    if (values.length === 0) super(SystemDate.now() + shiftMs)
    else super(...values)
  }

  static now() {
    return SystemDate.now() + shiftMs
  }
}
