"""
Verifies the requests on its input, a list of JSON, with the Standard Webhooks library. Prints for each the reason of its
refusal, or null.
"""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def refusal(token, headers, body):
    try:
        Webhook(token).verify(body.encode(), headers)
    except WebhookVerificationError as error:
        return str(error)
    return None


json.dump([refusal(**request) for request in json.load(sys.stdin)], sys.stdout)
