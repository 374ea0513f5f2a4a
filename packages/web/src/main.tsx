import { render } from 'preact'
import './style/tokens.css'

render(<main>Penstock</main>, document.getElementById('app')!)
