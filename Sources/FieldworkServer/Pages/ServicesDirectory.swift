import FieldworkREST
import HTTPTypes

/// The pages that a person sees at the addresses of the protocol: plain, without script.
struct ServicesDirectory: Sendable {
    let instance: String
    /// The path of the public address.
    var below: [String] = []

    static let contentPolicy =
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    static let stylesheet = """
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color: #1b2420; }
        nav { color: #55615b; } a { color: #0b6b4f; } h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; }
        table { border-collapse: collapse; } th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; }
        th { border-bottom: 1px solid #cfd8d3; } label { display: block; margin: .5rem 0; }
        td, pre { overflow-wrap: anywhere; } .failed { color: #a3261b; }
        input, select, textarea { display: block; width: 100%; max-width: 36rem; font: inherit; box-sizing: border-box; }
        @media (prefers-color-scheme: dark) { body { background: #16201b; color: #e4ece8; } a { color: #6fd0ae; }
          .failed { color: #ff9c8f; } }
        """

    func home() -> Answer {
        page("Fieldwork") { html in
            html.markup("<p>This server speaks the GeoServices REST protocol.</p><ul><li>")
            html.link(to: services, "Services")
            html.markup("</li><li>")
            html.link(to: below + ["health"], "Health")
            html.markup("</li><li>")
            html.link(to: below + ["metrics"], "Metrics")
            html.markup("</li></ul>")
        }
    }

    /// - Parameters:
    ///   - others: what is served beside services of features.
    ///   - offersSignIn: whether the visitor might see more after signing in.
    func catalog(
        folder: String?, folders: [String], names: [ServiceName], others: [CatalogueEntry] = [],
        offersSignIn: Bool = false
    ) -> Answer {
        page(folder.map { "Folder: \($0)" } ?? "Services") { html in
            if offersSignIn { signIn(in: &html) }
            if !folders.isEmpty {
                html.markup("<h2>Folders</h2><ul>")
                for folder in folders {
                    html.markup("<li>")
                    html.link(to: services + [folder], folder)
                    html.markup("</li>")
                }
                html.markup("</ul>")
            }
            html.markup("<h2>Services</h2><ul>")
            for name in names {
                for face in ServiceFace.allCases {
                    html.markup("<li>")
                    html.link(to: path(of: name, face), name.path)
                    html.element(" (", face.rawValue, ")</li>")
                }
            }
            for entry in others {
                html.markup("<li>")
                html.link(
                    to: services + [entry.name.folder, entry.name.name, entry.type].compactMap { $0 }, entry.name.path)
                html.element(" (", entry.type, ")</li>")
            }
            html.markup("</ul>")
        }
    }

    func service(_ service: ServiceDefinition, face: ServiceFace = .feature) -> Answer {
        page("\(service.name.path) (\(face.rawValue))", up: services) { html in
            html.element("<p>", service.description, "</p>")
            list("Layers", service.layers.filter { !$0.isTable }, of: service, face, in: &html)
            list("Tables", service.layers.filter(\.isTable), of: service, face, in: &html)
            let address = path(of: service.name, face)
            html.markup("<h2>Operations</h2><ul>")
            switch face {
            case .feature:
                html.element("<li>Allows: ", words(service.capabilities), "</li>")
                item("Relationships", address + ["relationships"], in: &html)
                item("Map service", path(of: service.name, .map), in: &html)
                item("Vector tiles", path(of: service.name, .vectorTile), in: &html)
            case .map, .vectorTile:
                item("Legend", address + ["legend"], in: &html)
                item("Feature service", path(of: service.name, .feature), in: &html)
            }
            item("All layers and tables", address + ["layers"], in: &html)
            html.markup("</ul><p><a href=\"?f=pjson\">JSON</a></p>")
        }
    }

    func error(_ error: ServiceError) -> Answer {
        var answer = page("Error \(error.code)") { html in
            html.element("<p>", error.message, "</p><ul>")
            for detail in error.details { html.element("<li>", detail, "</li>") }
            html.markup("</ul>")
            if [498, 499].contains(error.code) { signIn(in: &html) }
        }
        answer.errorCode = error.code
        answer.status = (400..<600).contains(error.code) ? .init(code: error.code) : .badRequest
        return answer
    }

    private func signIn(in html: inout HTMLWriter) {
        html.markup("<form method=\"get\" action=\"")
        html.path(below + [instance, "sharing", "rest", "oauth2", "authorize"])
        html.markup(
            """
            "><input type="hidden" name="client_id" value="directory"><input type="hidden" name="response_type" value="code">
            <p><button type="submit">Sign in</button></p></form>
            """)
    }

    var services: [String] { below + [instance, "rest", "services"] }

    func path(of name: ServiceName, _ face: ServiceFace) -> [String] {
        services + [name.folder, name.name, face.rawValue].compactMap { $0 }
    }

    func words(_ capabilities: Set<Capability>) -> String {
        Capability.allCases.filter(capabilities.contains).map(\.rawValue).joined(separator: ", ")
    }

    /// An item of a list that leads to a resource or an operation.
    func item(_ name: String, _ segments: [String], in html: inout HTMLWriter) {
        html.markup("<li>")
        html.link(to: segments, name)
        html.markup("</li>")
    }

    private func list(
        _ title: StaticString, _ layers: [LayerDefinition], of service: ServiceDefinition, _ face: ServiceFace,
        in html: inout HTMLWriter
    ) {
        guard !layers.isEmpty else { return }
        html.markup("<h2>")
        html.markup(title)
        html.markup("</h2><ul>")
        for layer in layers {
            item("\(layer.name) (\(layer.id))", path(of: service.name, face) + ["\(layer.id)"], in: &html)
        }
        html.markup("</ul>")
    }

    func page(_ title: String, up: [String]? = nil, _ content: (inout HTMLWriter) -> Void) -> Answer {
        var html = HTMLWriter()
        html.markup("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        html.element("<title>", title, "</title><link rel=\"stylesheet\" href=\"")
        html.path(below + ["fieldwork.css"])
        html.markup("\"></head><body><nav>")
        html.link(to: services, "Services")
        if let up {
            html.markup(" · ")
            html.link(to: up, "Up")
        }
        html.element("</nav><main><h1>", title, "</h1>")
        content(&html)
        html.markup("</main></body></html>")
        var answer = Answer(contentType: "text/html;charset=utf-8", body: .bytes(html.bytes))
        answer.isPage = true
        return answer
    }
}
