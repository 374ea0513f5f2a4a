import './logs.css'

/** The page Logs. */
export default function Page() {
  return (
    <div class="head">
      <h1>Logs</h1>
    </div>
  )
}
