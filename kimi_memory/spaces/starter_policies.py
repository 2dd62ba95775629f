"""What a new space begins with: the schema of its policies, and who may do what by role."""

from __future__ import annotations

from kimi_memory.domain.space_types import ACTIONS, PLACE, ROLES

_PLACES = (
    "appliesTo { principal: [Node], resource: [Area], "
    "context: { own: Set<String>, task: String, security: String } }"
)
_APPLIES = "appliesTo { principal: [User, Agent], resource: [Area], context: { own: Set<String> } }"
_WORDS = {
    "reading": ("reader", "Readers find and read what is shared, and what is their own."),
    "writing": ("writer", "Writers also capture and remember, and forget what is their own."),
    "keeping": ("keeper", "Keepers also run jobs, take them back, and settle what waits."),
    "owning": ("owner", "Owners also share, export and purge, and choose the members."),
}


def schema() -> str:
    """Return the schema that every policy of a space is checked against."""
    lines = [
        '// What policies can speak of. A memory has a shared area, whose scope is "", and',
        '// private ones, such as "user:lin" and "agent:scout".',
        "entity Role in [Role];",
        "entity User in [Role];",
        "entity Agent in [Role];",
        "entity Node in [Role] { kind: String, region: String, zone: String };",
        "entity Space;",
        "entity Memory in [Space];",
        "entity Area in [Memory] { scope: String };",
        f"action {', '.join(ACTIONS)};",
    ]
    for group, actions in ACTIONS.items():
        lines += [f"action {action} in [{group}] {_APPLIES};" for action in actions]
    lines.append(f"action {PLACE} {_PLACES};")
    return "\n".join(lines) + "\n"


def roles(space: str) -> str:
    """Return the policies of a new space."""
    lines: list[str] = []
    for group, (role, words) in _WORDS.items():
        lines += [
            f"// {words}",
            f'permit(principal in Role::"{role}", action in Action::"{group}", '
            f'resource in Space::"{space}");',
        ]
    lines += [
        "// What is private to somebody is for nobody else, whatever their role.",
        "forbid(principal, action, resource)",
        '  unless { resource.scope == "" || context.own.contains(resource.scope) };',
        "// A program gives nothing away, destroys nothing, and chooses no members.",
        'forbid(principal is Agent, action in Action::"owning", resource);',
        "// Tasks may run on any machine of the cluster; forbid here where they may not.",
        f'permit(principal is Node, action == Action::"{PLACE}", resource in Space::"{space}");',
    ]
    return "\n".join(lines) + "\n"


def role_parents() -> dict[str, str]:
    """Return for each role the one before it, which it includes."""
    return dict(zip(ROLES[1:], ROLES, strict=False))
