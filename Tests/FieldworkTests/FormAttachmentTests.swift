import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Attachments of forms", .fewAtATime)
struct FormAttachmentTests {
    private static let photo = Data([0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3])

    private static func tree(_ service: TestService) async throws -> ArcGISFeature {
        let table = try #require(try await service.geodatabase().table(withLayerID: 0))
        let found = Array(try await table.queryFeatures(using: QueryParameters()).features())
        return try #require(found.first as? ArcGISFeature)
    }

    private static func form(_ text: String, _ feature: ArcGISFeature) throws -> FeatureForm {
        FeatureForm(
            feature: feature, definition: try FeatureFormDefinition.fromJSON(Data(text.utf8)),
            expressions: FeatureFormTests.Rules())
    }

    @Test("What is added is kept when the form is finished, and forgotten when its edits are discarded")
    func adding() async throws {
        try await TestService.withTrees(1) { service in
            let tree = try await Self.tree(service)
            let form = FeatureForm(feature: tree)
            let element = try #require(form.defaultAttachmentsElement)
            #expect(element.isEditable && !form.hasEdits)
            _ = try #require(element.addAttachment(name: "a.jpg", contentType: "image/jpeg", data: Self.photo))
            #expect(form.hasEdits)
            #expect(try await element.attachments.map(\.name) == ["a.jpg"])
            #expect(try await tree.attachments.isEmpty, "nothing is kept before the form is finished")
            form.discardEdits()
            #expect(!form.hasEdits)
            #expect(try await element.attachments.isEmpty)

            let staged = try #require(
                element.addAttachment(name: "b.jpg", contentType: "image/jpeg", data: Self.photo))
            staged.name = "crown.jpg"
            try await staged.load()
            let file = try #require(staged.fileURL)
            #expect(try Data(contentsOf: file) == Self.photo)
            try await form.finishEditing()
            #expect(!form.hasEdits)
            let kept = try #require(try await element.attachments.first)
            #expect(kept.name == "crown.jpg" && kept.isLocal && kept.kind == .image && kept.size.value == 7)
            #expect(try await element.attachments.first === kept)
            let table = try #require(tree.table as? ServiceFeatureTable)
            #expect(try await table.applyEdits().flatMap(\.attachmentResults).map { $0.error == nil } == [true])
            let fresh = try await Self.tree(service)
            #expect(try await fresh.attachments.first?.data == Self.photo)
        }
    }

    @Test("A new feature and its photo are kept together")
    func newFeature() async throws {
        try await TestService.withTrees(0) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = try #require(
                table.makeFeature(attributes: ["Kind": "park"], geometry: TreeService.place) as? ArcGISFeature)
            let form = FeatureForm(feature: feature)
            let element = try #require(form.defaultAttachmentsElement)
            #expect(try await element.attachments.isEmpty)
            _ = try #require(element.addAttachment(name: "new.jpg", contentType: "image/jpeg", data: Self.photo))
            try await form.finishEditing()
            _ = try await geodatabase.applyEdits()
            let stored = try await Self.tree(service)
            #expect(try await stored.attachments.map(\.name) == ["new.jpg"])
        }
    }

    @Test("A name and a deletion are staged as well")
    func changing() async throws {
        try await TestService.withTrees(1) { service in
            let tree = try await Self.tree(service)
            try await tree.addAttachment(named: "one.jpg", contentType: "image/jpeg", data: Self.photo)
            try await tree.addAttachment(named: "two.jpg", contentType: "image/jpeg", data: Data([1]))
            let form = FeatureForm(feature: tree)
            let element = try #require(form.defaultAttachmentsElement)
            let all = try await element.attachments
            #expect(all.map(\.name) == ["one.jpg", "two.jpg"])
            all[0].name = "first.jpg"
            element.delete(all[1])
            #expect(try await element.attachments.map(\.name) == ["first.jpg"])
            #expect(try await tree.attachments.map(\.name) == ["one.jpg", "two.jpg"])
            form.discardEdits()
            #expect(try await element.attachments.map(\.name) == ["one.jpg", "two.jpg"])
            all[0].name = "first.jpg"
            element.delete(all[1])
            try await form.finishEditing()
            #expect(try await tree.attachments.map(\.name) == ["first.jpg"])
            #expect(try await tree.attachments.first?.data == Self.photo)
        }
    }

    @Test("Elements of a form show those with their keyword, and take no more than they may")
    func keywords() async throws {
        try await TestService.withTrees(1) { service in
            let tree = try await Self.tree(service)
            try await tree.addAttachment(
                named: "leaf.jpg", contentType: "image/jpeg", keywords: "leaf", data: Self.photo)
            try await tree.addAttachment(named: "none.jpg", contentType: "image/jpeg", data: Self.photo)
            let text = #"""
                {"supportsAttachmentElements":true,"expressionInfos":[
                {"name":"expr/dead","title":"dead","expression":"dead","returnType":"boolean"},
                {"name":"expr/name","title":"name","expression":"double","returnType":"number"}],"formElements":[
                {"type":"attachment","label":"Leaves","attachmentKeyword":"leaf","maxAttachmentCount":2,
                "minAttachmentCount":1,"editableExpression":"expr/system/true","allowUserRename":false},
                {"type":"attachment","label":"Rest","attachmentKeyword":"bark",
                "inputType":{"type":"attachment","attachmentAssociationType":"exactOrNone"},
                "editableExpression":"expr/dead","fileNameExpression":"expr/name"},
                {"type":"group","label":"All","formElements":[{"type":"attachment","label":"All",
                "attachmentKeyword":"x","inputType":{"type":"attachment","attachmentAssociationType":"any"}}]}]}
                """#
            let form = try Self.form(text, tree)
            let authored = try JSONParser.parse(text)
            #expect(form.defaultAttachmentsElement == nil && form.definition.json == authored)
            try await form.evaluateExpressions()
            let elements = form.attachmentElements
            #expect(elements.map(\.label) == ["Leaves", "Rest", "All"])
            #expect(elements.map(\.isEditable) == [true, false, false])
            let (leaves, rest, all) = (elements[0], elements[1], elements[2])
            #expect(leaves.minAttachmentCount == 1 && !leaves.allowsUserRename)
            #expect(try await leaves.attachments.map(\.name) == ["leaf.jpg"])
            #expect(try await rest.attachments.map(\.name) == ["none.jpg"])
            #expect(try await all.attachments.count == 2)

            let name = try await leaves.makeDefaultName(contentType: "image/jpeg")
            #expect(name.hasPrefix("leaf_") && name.hasSuffix(".jpg"))
            #expect(try await rest.makeDefaultName(contentType: "image/png") == "2.png", "the author's expression")
            #expect(leaves.addAttachment(name: name, contentType: "image/jpeg", data: Self.photo) != nil)
            #expect(leaves.addAttachment(name: "third.jpg", contentType: "image/jpeg", data: Self.photo) == nil)
            #expect(rest.addAttachment(name: "no.jpg", contentType: "image/jpeg", data: Self.photo) == nil)
            try await form.finishEditing()
            #expect(try await tree.attachments.filter { $0.keywords == "leaf" }.count == 2)
        }
    }

    @Test("A form is not saved with fewer attachments than its author wants, as long as they can be counted")
    func fewest() async throws {
        try await TestService.withTrees(1) { service in
            let tree = try await Self.tree(service)
            let form = try Self.form(
                #"""
                {"supportsAttachmentElements":true,"formElements":[{"type":"attachment","label":"Leaves",
                "attachmentKeyword":"leaf","minAttachmentCount":2}]}
                """#, tree)
            let leaves = try #require(form.attachmentElements.first)
            tree.setAttributeValue("5 New St", forKey: "Address")
            leaves.addAttachment(name: "1.jpg", contentType: "image/jpeg", data: Self.photo)
            let error = await #expect(throws: FeatureFormError.self) { try await form.finishEditing() }
            #expect(error == .fieldIsRequired(details: "Leaves needs at least 2 attachments; there are 1."))
            let table = try #require(tree.table as? ServiceFeatureTable)
            #expect(try await table.localEdits().isEmpty && form.hasEdits)
            leaves.addAttachment(name: "2.jpg", contentType: "image/jpeg", data: Self.photo)
            try await form.finishEditing()
            #expect(try await tree.attachments.count == 2)

            // What there is can't be counted without the service: the value is kept all the same.
            _ = try await table.serviceGeodatabase?.applyEdits()
            service.interceptor.isOffline = true
            tree.setAttributeValue("6 New St", forKey: "Address")
            try await form.finishEditing()
            #expect(try await table.localEdits().first?.attributeValue(forKey: "Address") as? String == "6 New St")
        }
    }

    @Test("An attachment that can't be kept stays staged, and the rest of the form is saved")
    func refused() async throws {
        try await TestService.withTrees(1) { service in
            let tree = try await Self.tree(service)
            let form = FeatureForm(feature: tree)
            let element = try #require(form.defaultAttachmentsElement)
            let staged = try #require(
                element.addAttachment(name: "../a.jpg", contentType: "image/jpeg", data: Self.photo))
            tree.setAttributeValue("5 New St", forKey: "Address")
            await #expect(throws: GeodatabaseError.self) { try await form.finishEditing() }
            #expect(form.hasEdits)
            #expect(try await element.attachments.contains { $0 === staged })
            staged.name = "a.jpg"
            try await form.finishEditing()
            #expect(!form.hasEdits)
            #expect(try await tree.attachments.map(\.name) == ["a.jpg"])
            let table = try #require(tree.table as? ServiceFeatureTable)
            #expect(try await table.localEdits().first?.attributeValue(forKey: "Address") as? String == "5 New St")
        }
    }
}
