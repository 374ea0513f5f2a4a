import './insights.css'

/** The page Insights. */
export default function Page() {
  return (
    <div class="head">
      <h1>Insights</h1>
    </div>
  )
}
