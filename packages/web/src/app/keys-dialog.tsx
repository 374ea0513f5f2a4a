import { Dialog } from '../components/dialog.tsx'
import { keyGroups } from './keys.ts'

/** Lists every key that works on the current page. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog
      title="Keys"
      onClose={onClose}
      footer={
        <button class="btn" type="button" onClick={onClose}>
          Close
        </button>
      }
    >
      {keyGroups.value.map((group) => (
        <div key={group.name}>
          <h3>{group.name}</h3>
          <dl class="keys">
            {group.bindings.map((binding) => (
              <div key={binding.keys}>
                <dt>
                  {binding.keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{binding.label}</dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </Dialog>
  )
}
