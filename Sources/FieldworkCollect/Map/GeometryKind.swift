/// Points, lines and areas are shown and edited differently.
enum GeometryKind: String, Sendable, Codable {
    case point, line, polygon
}
