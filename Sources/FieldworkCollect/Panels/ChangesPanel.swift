/// Where each edit is.
struct ChangesPanel: PanelModel {
    static let template = "changes"

    /// How much isn't sent, in large letters.
    struct Figure: ViewModel {
        let text: String
        let note: String
        /// When something was sent last.
        let attempt: String?
    }

    /// Why the last sending came to nothing.
    struct Failure: ViewModel {
        let what: String
        let note: String
        var signIn = false
    }

    /// The ways to the other work mode.
    struct Modes: ViewModel {
        struct Area: ViewModel {
            let id: String
            let name: String
        }

        /// Whether the work is offline now.
        let offline: Bool
        let areas: [Area]
    }

    /// The conflicts that wait for a decision.
    struct Conflicts: ViewModel {
        let text: String
        /// The first of them.
        let address: String
    }

    struct Draft: ViewModel {
        let id: String
        let address: String
        let title: String
        let detail: String
    }

    struct Group: ViewModel {
        let name: String
        let edits: [EditRow]
    }

    let figure: Figure
    let canSend: Bool
    let sendingBar: SendingBar
    let failure: Failure?
    let modes: Modes?
    let conflicts: Conflicts?
    /// What a service's rule decided, told once.
    let settledNotice: String?
    /// Whether the map is a file of no service.
    let isPlainFile: Bool
    let hasDrafts: Bool
    let drafts: [Draft]
    let groups: [Group]
    /// The page of later edits.
    let newer: String?
    /// The page of earlier edits.
    let older: String?
    let canExport: Bool
}
