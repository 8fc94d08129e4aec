import FieldworkREST

extension ServicesDirectory {
    /// The form of `query`, and below it what the last one found.
    func queryForm(
        _ layer: LayerDefinition, of service: ServiceDefinition, face: ServiceFace = .feature,
        filledWith parameters: RequestParameters = RequestParameters(), found: PageTable? = nil
    ) -> Answer {
        let address = path(of: service.name, face) + ["\(layer.id)"]
        return page("Query: \(layer.name) (\(layer.id))", up: address) { html in
            html.markup("<form method=\"get\">")
            field("Where", "where", parameters["where"] ?? "1=1", in: &html)
            field("Object ids", "objectIds", parameters["objectIds"] ?? "", in: &html)
            area("Geometry", "geometry", parameters["geometry"] ?? "", rows: "3", in: &html)
            field("Fields", "outFields", parameters["outFields"] ?? "*", in: &html)
            field("Order by", "orderByFields", parameters["orderByFields"] ?? "", in: &html)
            field("Most features", "resultRecordCount", parameters["resultRecordCount"] ?? "10", in: &html)
            choice("Return geometry", "returnGeometry", ["true", "false"], parameters, in: &html)
            choice("Count only", "returnCountOnly", ["false", "true"], parameters, in: &html)
            choice("Format", "f", ["html", "pjson", "json", "geojson", "pbf"], parameters, in: &html)
            html.markup("<p><button>Query</button></p></form>")
            if let found { table(found, in: &html) }
        }
    }

    /// The form of an operation that edits, and below it what became of the last edit.
    func editForm(
        _ form: EditForm, _ layer: LayerDefinition, of service: ServiceDefinition,
        filledWith parameters: RequestParameters = RequestParameters(), results: PageTable? = nil
    ) -> Answer {
        let address = path(of: service.name, .feature) + ["\(layer.id)"]
        return page("\(form.title): \(layer.name) (\(layer.id))", up: address) { html in
            if let results { table(results, in: &html) }
            html.markup("<form method=\"post\">")
            switch form {
            case .add, .update:
                let features = parameters["features"] ?? form.example(of: layer)
                area("Features (JSON)", "features", features, rows: "16", in: &html)
            case .delete:
                field("Object ids", "objectIds", parameters["objectIds"] ?? "", in: &html)
                field("Where", "where", parameters["where"] ?? "", in: &html)
            }
            choice("Roll back on failure", "rollbackOnFailure", ["true", "false"], parameters, in: &html)
            choice("Format", "f", ["html", "pjson", "json"], parameters, in: &html)
            html.element("<p><button>", form.title, "</button></p></form>")
        }
    }

    private func field(_ label: String, _ name: String, _ value: String, in html: inout HTMLWriter) {
        html.element("<label>", label, " <input name=\"")
        html.text(name)
        html.element("\" value=\"", value, "\"></label>")
    }

    private func area(_ label: String, _ name: String, _ value: String, rows: String, in html: inout HTMLWriter) {
        html.element("<label>", label, " <textarea name=\"")
        html.text(name)
        html.element("\" rows=\"", rows, "\">")
        // A line end right after the tag is not part of the content.
        html.element("\n", value, "</textarea></label>")
    }

    private func choice(
        _ label: String, _ name: String, _ values: [String], _ parameters: RequestParameters, in html: inout HTMLWriter
    ) {
        html.element("<label>", label, " <select name=\"")
        html.text(name)
        html.markup("\">")
        for value in values {
            html.markup(parameters[name] == value ? "<option selected>" : "<option>")
            html.element("", value, "</option>")
        }
        html.markup("</select></label>")
    }
}
