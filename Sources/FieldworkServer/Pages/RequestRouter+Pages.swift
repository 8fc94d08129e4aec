import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes

/// The operations that a person does on pages. They are the same operations: the page shows their JSON as a table.
extension RequestRouter {
    /// `query` on a page: the form alone at first, with what was found once it was filled in.
    func queryPage(_ context: RouteContext, face: ServiceFace) async throws -> Answer {
        let (published, layer) = (try context.service, try context.layer)
        let parameters = context.request.parameters
        let isFilledIn = ["where", "objectIds", "geometry", "globalIds"].contains { parameters[$0] != nil }
        guard isFilledIn else { return directory.queryForm(layer, of: published.definition, face: face) }
        var asked = context.request
        asked.parameters.set("f", "json")
        asked.keepsAnswers = false
        let count = try parameters.integer("resultRecordCount") ?? Limits.pageRecords
        asked.parameters.set("resultRecordCount", String(max(0, min(count, Limits.pageRecords))))
        let answer = try await Self.json(of: service.query(layer, of: published, asked))
        return directory.queryForm(
            layer, of: published.definition, face: face, filledWith: parameters, found: PageTable(query: answer))
    }

    /// An edit on a page. A form of another site must not make a visitor edit here.
    func editPage(_ form: EditForm, _ context: RouteContext) async throws -> Answer {
        let (published, layer, request) = (try context.service, try context.layer, context.request)
        guard request.method == .post else { return directory.editForm(form, layer, of: published.definition) }
        guard !request.isFromOtherSite else {
            throw ServiceError(
                code: 403, message: "This form was sent by a page of another site. Nothing was changed.")
        }
        var asked = request
        asked.parameters.set("f", "json")
        let answer = try await Self.json(of: service.edit(form.operation, layer, of: published, asked))
        return directory.editForm(
            form, layer, of: published.definition, filledWith: request.parameters, results: PageTable(edit: answer))
    }

    private static func json(of answer: Answer) async throws -> JSONValue {
        try JSONParser.parse(try await answer.body.collected())
    }
}
