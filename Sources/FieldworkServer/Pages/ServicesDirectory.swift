import FieldworkREST
import HTTPTypes

/// The pages that a person sees at the addresses of the protocol: plain, without script.
struct ServicesDirectory: Sendable {
    let instance: String

    static let contentPolicy =
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    static let stylesheet = """
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color: #1b2420; }
        nav { color: #55615b; } a { color: #0b6b4f; } h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; }
        table { border-collapse: collapse; } th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; }
        th { border-bottom: 1px solid #cfd8d3; } label { display: block; margin: .5rem 0; }
        input, select, textarea { display: block; width: 100%; max-width: 36rem; font: inherit; box-sizing: border-box; }
        @media (prefers-color-scheme: dark) { body { background: #16201b; color: #e4ece8; } a { color: #6fd0ae; } }
        """

    func home() -> Answer {
        page("Fieldwork") { html in
            html.markup("<p>This server speaks the GeoServices REST protocol.</p><ul><li>")
            html.link(to: services, "Services")
            html.markup("</li><li><a href=\"/health\">Health</a></li><li><a href=\"/metrics\">Metrics</a></li></ul>")
        }
    }

    func catalog(folder: String?, folders: [String], names: [ServiceName]) -> Answer {
        page(folder.map { "Folder: \($0)" } ?? "Services") { html in
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
                html.markup("<li>")
                html.link(to: path(of: name), name.path)
                html.markup(" (FeatureServer)</li>")
            }
            html.markup("</ul>")
        }
    }

    func service(_ service: ServiceDefinition) -> Answer {
        page("\(service.name.path) (FeatureServer)", up: services) { html in
            html.element("<p>", service.description, "</p>")
            list("Layers", service.layers.filter { !$0.isTable }, of: service, in: &html)
            list("Tables", service.layers.filter(\.isTable), of: service, in: &html)
            html.element("<p>Allows: ", words(service.capabilities), "</p>")
            html.markup("<p><a href=\"?f=pjson\">JSON</a></p>")
        }
    }

    func layer(_ layer: LayerDefinition, of service: ServiceDefinition) -> Answer {
        let address = path(of: service.name)
        return page("\(layer.name) (\(layer.id))", up: address) { html in
            html.element("<p>", layer.description, "</p>")
            html.element("<p>", layer.geometryType?.rawValue ?? "Table", "</p>")
            html.element("<p>Allows: ", words(layer.capabilities.intersection(service.capabilities)), "</p>")
            html.markup("<h2>Fields</h2><table><tr><th>Name</th><th>Alias</th><th>Type</th><th>Length</th></tr>")
            for field in layer.fields {
                html.element("<tr><td>", field.name, "</td>")
                html.element("<td>", field.alias, "</td>")
                html.element("<td>", field.type.rawValue, "</td>")
                html.element("<td>", field.length > 0 ? "\(field.length)" : "", "</td></tr>")
            }
            html.markup("</table><p><a href=\"?f=pjson\">JSON</a> · ")
            html.link(to: address + ["\(layer.id)", "query"], "Query")
            html.markup("</p>")
        }
    }

    func queryForm(_ layer: LayerDefinition, of service: ServiceDefinition) -> Answer {
        let address = path(of: service.name) + ["\(layer.id)"]
        return page("Query: \(layer.name) (\(layer.id))", up: address) { html in
            html.markup("<form method=\"get\"><label>Where <input name=\"where\" value=\"1=1\"></label>")
            html.markup("<label>Object ids <input name=\"objectIds\"></label>")
            html.markup("<label>Geometry <textarea name=\"geometry\" rows=\"3\"></textarea></label>")
            html.markup("<label>Fields <input name=\"outFields\" value=\"*\"></label>")
            html.markup("<label>Order by <input name=\"orderByFields\"></label>")
            html.markup(
                "<label>Most features <input name=\"resultRecordCount\" type=\"number\" min=\"1\" value=\"10\"></label>"
            )
            html.markup("<label>Return geometry <select name=\"returnGeometry\"><option>true</option>")
            html.markup("<option>false</option></select></label>")
            html.markup("<label>Count only <select name=\"returnCountOnly\"><option>false</option>")
            html.markup("<option>true</option></select></label>")
            html.markup("<label>Format <select name=\"f\"><option>pjson</option><option>json</option>")
            html.markup("<option>geojson</option><option>pbf</option></select></label>")
            html.markup("<p><button>Query</button></p></form>")
        }
    }

    func error(_ error: ServiceError) -> Answer {
        var answer = page("Error \(error.code)") { html in
            html.element("<p>", error.message, "</p><ul>")
            for detail in error.details { html.element("<li>", detail, "</li>") }
            html.markup("</ul>")
        }
        answer.errorCode = error.code
        answer.status = (400..<600).contains(error.code) ? .init(code: error.code) : .badRequest
        return answer
    }

    private var services: [String] { [instance, "rest", "services"] }

    private func path(of name: ServiceName) -> [String] {
        services + [name.folder, name.name, "FeatureServer"].compactMap { $0 }
    }

    private func words(_ capabilities: Set<Capability>) -> String {
        Capability.allCases.filter(capabilities.contains).map(\.rawValue).joined(separator: ", ")
    }

    private func list(
        _ title: StaticString, _ layers: [LayerDefinition], of service: ServiceDefinition, in html: inout HTMLWriter
    ) {
        guard !layers.isEmpty else { return }
        html.markup("<h2>")
        html.markup(title)
        html.markup("</h2><ul>")
        for layer in layers {
            html.markup("<li>")
            html.link(to: path(of: service.name) + ["\(layer.id)"], "\(layer.name) (\(layer.id))")
            html.markup("</li>")
        }
        html.markup("</ul>")
    }

    private func page(_ title: String, up: [String]? = nil, _ content: (inout HTMLWriter) -> Void) -> Answer {
        var html = HTMLWriter()
        html.markup("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        html.element("<title>", title, "</title><link rel=\"stylesheet\" href=\"/fieldwork.css\"></head><body><nav>")
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
