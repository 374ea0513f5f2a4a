import { ErrorCode, MAX_FRAME_BYTES, MAX_WINDOW, readUint32, Setting } from './frames.ts'

/** The bytes of one setting, and the most settings of one frame, as in nghttp2. */
const SETTING_BYTES = 6
const MAX_SETTINGS = 32

/** The settings that change how answers are written. */
interface SettingsValues {
  readonly initialWindow: number | undefined
  /** All sizes of the table, in their order. */
  readonly tableSizes: readonly number[]
}

/** Reads the payload of SETTINGS. Returns the code of the error of the connection if it is not valid. */
export function readSettings(payload: Buffer): SettingsValues | number {
  if (payload.length % SETTING_BYTES !== 0) return ErrorCode.FRAME_SIZE_ERROR
  if (payload.length > MAX_SETTINGS * SETTING_BYTES) return ErrorCode.ENHANCE_YOUR_CALM
  const tableSizes: number[] = []
  let initialWindow: number | undefined
  for (let at = 0; at < payload.length; at += SETTING_BYTES) {
    const setting = payload.readUInt16BE(at)
    const value = readUint32(payload, at + 2)
    if (setting === Setting.ENABLE_PUSH && value > 1) return ErrorCode.PROTOCOL_ERROR
    if (setting === Setting.MAX_FRAME_SIZE && (value < MAX_FRAME_BYTES || value > 0xffffff)) {
      return ErrorCode.PROTOCOL_ERROR
    }
    if (setting === Setting.INITIAL_WINDOW_SIZE) {
      if (value > MAX_WINDOW) return ErrorCode.FLOW_CONTROL_ERROR
      initialWindow = value
    }
    if (setting === Setting.HEADER_TABLE_SIZE) tableSizes.push(value)
  }
  return { initialWindow, tableSizes }
}
