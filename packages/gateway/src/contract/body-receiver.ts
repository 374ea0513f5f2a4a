/**
 * Receives the body of one request, and the faults of its connection. Its methods must not throw, because nothing catches the error.
 */
export interface BodyReceiver {
  /** Whether the gateway itself has paused reading. */
  readonly isPaused: boolean
  /** Returns false to pause the connection until `resumeBody`. More pieces may still arrive. */
  onBody(piece: Uint8Array): boolean
  onBodyEnd(): void
  /** The connection was closed before the request was answered. */
  onAborted(): void
  /** No byte has arrived for too long. */
  onStalled(): void
  /** The received bytes are not valid HTTP. */
  onBroken(): void
}
