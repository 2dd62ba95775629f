#!/bin/sh
# Make this machine a node, take its part of one memory, keep it in step.
#   KIMI_URL    the change log, without a password: ~/.pgpass or PGPASSWORD has it
#   KIMI_NODE   the name of this node
#   KIMI_NAME   the memory
#   KIMI_FIRST  the node that makes the memory, the first time
set -eu
: "${KIMI_URL:?}" "${KIMI_NODE:?}" "${KIMI_NAME:?}" "${KIMI_FIRST:?}"
folder=${KIMI_FOLDER:-$HOME/$KIMI_NAME}

until kimi-memory node join --url "$KIMI_URL" --name "$KIMI_NODE"; do
    echo "the log does not answer yet" >&2
    sleep 2
done
if [ ! -e "$folder/.kimi/deployment.json" ]; then
    if [ "$KIMI_NODE" = "$KIMI_FIRST" ]; then
        [ -e "$folder/memory.toml" ] || kimi-memory init "$folder" --name "$KIMI_NAME"
        kimi-memory deploy add --memory "$folder"
    else
        # A folder that was begun and not ended is none of ours: `deploy add` wants an empty one.
        until kimi-memory deploy add "$KIMI_NAME" --folder "$folder"; do
            echo "$KIMI_FIRST does not share $KIMI_NAME yet" >&2
            sleep 2
        done
    fi
fi
exec kimi-memory cluster run
