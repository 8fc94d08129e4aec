import Foundation

/// The page as a screen reader has it: things are found by their role and name in the browser's accessibility tree, never by
/// place or style.
extension Browser {
    private struct Tree: Decodable {
        struct Outcome: Decodable { let nodes: [Node] }
        struct Node: Decodable {
            let backendDOMNodeId: Int?
            let ignored: Bool
        }
        let result: Outcome
    }

    private struct Document: Decodable {
        struct Outcome: Decodable { let root: Root }
        struct Root: Decodable { let backendNodeId: Int }
        let result: Outcome
    }

    private struct Box: Decodable {
        struct Outcome: Decodable { let model: Model }
        struct Model: Decodable { let content: [Double] }
        let result: Outcome
    }

    /// The first thing with this role and name; nil where there is none.
    private func node(_ role: String, _ name: String) async throws -> Int? {
        let document = try JSONDecoder().decode(Document.self, from: try await command("DOM.getDocument"))
        let data = try await command(
            "Accessibility.queryAXTree",
            ["backendNodeId": document.result.root.backendNodeId, "role": role, "accessibleName": name])
        let nodes = try JSONDecoder().decode(Tree.self, from: data).result.nodes
        return nodes.first { !$0.ignored && $0.backendDOMNodeId != nil }?.backendDOMNodeId
    }

    /// Whether there is such a thing.
    package func has(_ role: String, _ name: String) async throws -> Bool { try await node(role, name) != nil }

    private func wanted(_ role: String, _ names: [String]) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            for name in names {
                if let node = try? await node(role, name) { return node }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(description: "there is no \(role) called \(names)")
    }

    /// Clicks or taps it.
    package func press(_ role: String, _ names: [String], isTouch: Bool = false) async throws {
        try await untilHit("\(role) \(names)") {
            let node = try await wanted(role, names)
            let place = try await placeAtRest {
                try await command("DOM.scrollIntoViewIfNeeded", ["backendNodeId": node])
                let data = try await command("DOM.getBoxModel", ["backendNodeId": node])
                let box = try JSONDecoder().decode(Box.self, from: data).result.model.content
                guard box.count == 8 else { throw Failure(description: "\(names) has no box") }
                return [(box[0] + box[4]) / 2, (box[1] + box[5]) / 2]
            }
            try await aim(at: node)
            let (x, y) = (place[0], place[1])
            if isTouch { try await tap(x: x, y: y) } else { try await click(x: x, y: y) }
        }
    }

    private struct Resolved: Decodable {
        struct Outcome: Decodable { let object: Object }
        struct Object: Decodable { let objectId: String }
        let result: Outcome
    }

    private func aim(at node: Int) async throws {
        let data = try await command("DOM.resolveNode", ["backendNodeId": node])
        let object = try JSONDecoder().decode(Resolved.self, from: data).result.object.objectId
        try await command(
            "Runtime.callFunctionOn", ["objectId": object, "functionDeclaration": Self.aim, "returnByValue": true])
    }

    /// Puts files into a control of files, as a camera or a file chooser does.
    package func choose(_ files: [String], in role: String, _ names: [String]) async throws {
        let node = try await wanted(role, names)
        try await command("DOM.setFileInputFiles", ["backendNodeId": node, "files": files])
    }

    /// Goes on with the Tab key until the focus is on what has this name.
    package func tab(to name: String, most: Int = 120) async throws {
        let script = """
            (() => { const e = document.activeElement; if (!e || e === document.body) return '';
            const labels = e.labels?.length ? [...e.labels].map(l => l.innerText).join(' ') : '';
            const set = e.type === 'radio' ? e.closest('label')?.innerText ?? '' : '';
            return (e.getAttribute('aria-label') || set || labels || e.innerText || '').replace(/\\s+/g, ' ').trim(); })()
            """
        // What was asked for before may still be on its way to the page: then it is looked for once more.
        let end = ContinuousClock.now + .seconds(30)
        repeat {
            for _ in 0..<most {
                if try await evaluate(script, as: String.self) == name { return }
                try await press("Tab")
            }
            try await Task.sleep(for: .milliseconds(200))
        } while ContinuousClock.now < end
        throw Failure(description: "Tab never came to \(name)")
    }
}
