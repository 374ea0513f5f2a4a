/** Says what the bars of the waterfall mean, and its main keys. */
export function Legend() {
  return (
    <div class="legend" aria-hidden="true">
      <span>
        <i>
          <b class="wait" />
        </i>
        queued
      </span>
      <span>
        <i>
          <b class="run passed" />
        </i>
        ran
      </span>
      <span class="on">
        <i>
          <b class="run passed" />
        </i>
        ran, on the critical path
      </span>
      <span>
        <i>
          <b class="run failed" />
        </i>
        failed
      </span>
      <span>
        <i>
          <b class="none" />
        </i>
        skipped
      </span>
      <span class="opt">
        <kbd>j</kbd>
        <kbd>k</kbd> move
      </span>
      <span class="opt">
        <kbd>e</kbd> next failure
      </span>
      <span class="opt">
        <kbd>?</kbd> all keys
      </span>
    </div>
  )
}
