/// What of an item decides who may do what with it.
package struct ItemFacts: Sendable, Hashable {
    package var id: String
    package var owner: String
    package var sharing: Sharing
    /// Those of the groups whose members may change what is shared with them.
    package var updatingGroups: Set<String> = []
    package var isProtected = false
    /// Whether everyone who sees the service may edit its features, also without signing in. Never follows from the sharing.
    package var isOpenToEdits = false

    package init(
        id: String, owner: String, sharing: Sharing, updatingGroups: Set<String> = [], isProtected: Bool = false,
        isOpenToEdits: Bool = false
    ) {
        self.id = id
        self.owner = owner
        self.sharing = sharing
        self.updatingGroups = updatingGroups
        self.isProtected = isProtected
        self.isOpenToEdits = isOpenToEdits
    }
}

/// Whom an item is shared with, beside its owner.
package struct Sharing: Sendable, Hashable {
    package var everyone = false
    package var organisation = false
    package var groups: Set<String> = []

    package init(everyone: Bool = false, organisation: Bool = false, groups: Set<String> = []) {
        self.everyone = everyone
        self.organisation = organisation
        self.groups = groups
    }

    /// The protocol's word.
    package var access: String {
        if everyone { return "public" }
        if organisation { return "org" }
        return groups.isEmpty ? "private" : "shared"
    }
}

/// What the caller may do with an item, and why. This one function guards every route and prints what a person may do.
package struct ItemRights: Sendable, Hashable {
    package var reads = false
    /// To edit the features of a service, as the service's settings allow.
    package var edits = false
    /// To change what the item says of itself, and its data.
    package var updates = false
    /// To change the definition of a service.
    package var administers = false
    package var shares = false
    package var deletes = false
    /// Plain sentences.
    package var reasons: [String] = []

    package init(of principal: Principal, on item: ItemFacts) {
        if principal.kind == .everybody {
            (reads, edits, updates, administers, shares, deletes) = (true, true, true, true, true, true)
            reasons = ["The server has no people: everybody may do everything."]
            return
        }
        let isOwner = principal.isNamed(item.owner)
        let updatingGroup = !principal.groups.isDisjoint(with: item.updatingGroups)
        allowReading(principal, item, isOwner)
        // The setting goes with the sharing: what is not everyone's any more is open to nobody.
        let isOpen = item.isOpenToEdits && item.sharing.everyone
        if isOpen { reasons.append("The service is open to edits by everyone: share --everyone --editing.") }
        guard principal.isSignedIn else {
            edits = reads && isOpen
            if reads, !isOpen { reasons.append("Nobody edits without signing in.") }
            return
        }
        if reads, isOpen {
            edits = true
        } else if reads {
            edits = principal.has(.edit) || principal.has(.fullEdit)
            reasons.append(
                edits ? "The role allows to edit features." : "The role does not allow to edit features.")
        }
        // What somebody may not see is not there: a role of the organisation's own may have one privilege without the other.
        updates = reads && (isOwner || updatingGroup || principal.has(.updateItems))
        if updatingGroup, !isOwner { reasons.append("A group with shared update allows to change the item.") }
        administers = (isOwner && principal.has(.publishFeatures)) || principal.has(.manageServers)
        let sharesOwn =
            isOwner && [Privilege.shareToGroup, .shareToOrganisation, .shareToEveryone].contains(where: principal.has)
        shares = reads && (sharesOwn || principal.has(.updateItems))
        deletes = reads && (isOwner || principal.has(.deleteItems)) && !item.isProtected
        if item.isProtected { reasons.append("The item is protected against deletion.") }
    }

    private mutating func allowReading(_ principal: Principal, _ item: ItemFacts, _ isOwner: Bool) {
        if isOwner { reasons.append("The item belongs to the person.") }
        if item.sharing.everyone { reasons.append("The item is shared with everyone.") }
        let byOrganisation = item.sharing.organisation && principal.isSignedIn
        if byOrganisation { reasons.append("The item is shared with the organisation.") }
        let byGroup = !principal.groups.isDisjoint(with: item.sharing.groups)
        if byGroup { reasons.append("The item is shared with a group of the person.") }
        let byRole = principal.has(.viewItems)
        if byRole { reasons.append("The role allows to see all items.") }
        reads = isOwner || item.sharing.everyone || byOrganisation || byGroup || byRole
        if !reads { reasons.append("The item is not shared with the person.") }
    }
}
