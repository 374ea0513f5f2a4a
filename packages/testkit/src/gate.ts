/** A gate that is closed until a test opens it, for replies and other work that must wait for an event. */
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
