/** Closed until a test opens it: for replies that are held back, and for anything else that waits on an event. */
export class Gate {
  readonly opened: Promise<void>
  readonly #open: () => void

  constructor() {
    let open = () => {}
    this.opened = new Promise((resolve) => {
      open = resolve
    })
    this.#open = open
  }

  open(): void {
    this.#open()
  }
}
