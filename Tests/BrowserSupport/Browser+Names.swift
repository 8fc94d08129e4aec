import Foundation

/// What a screen reader says of a page: the roles, names and descriptions of the browser's accessibility tree.
extension Browser {
    package struct SpokenNode: Sendable, Hashable {
        package let role: String
        package let name: String
        package let description: String
    }

    private struct FullTree: Decodable {
        struct Text: Decodable {
            // A name is text; values of other roles may be numbers.
            let value: String?

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                value = try? container.decode(String.self, forKey: .value)
            }

            enum CodingKeys: CodingKey { case value }
        }
        struct Node: Decodable {
            let ignored: Bool
            let role: Text?
            let name: Text?
            let description: Text?
        }
        struct Outcome: Decodable { let nodes: [Node] }
        let result: Outcome
    }

    /// All nodes that aren't left out of the tree.
    package func spokenNodes() async throws -> [SpokenNode] {
        try await command("Accessibility.enable")
        let data = try await command("Accessibility.getFullAXTree")
        return try JSONDecoder().decode(FullTree.self, from: data).result.nodes.filter { !$0.ignored }.map { node in
            SpokenNode(
                role: node.role?.value ?? "", name: node.name?.value ?? "", description: node.description?.value ?? "")
        }
    }
}
