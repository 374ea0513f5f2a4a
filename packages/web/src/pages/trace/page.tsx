import './trace.css'

/** The page Trace. */
export default function Page() {
  return (
    <div class="head">
      <h1>Trace</h1>
    </div>
  )
}
