public import FieldworkGeometry

/// Something with attributes and a place: a feature, or what an identify found.
public protocol GeoElement: AnyObject, Sendable {
    /// All attributes that have a value, by field name.
    var attributes: [String: any Sendable] { get }
    /// The place.
    var geometry: Geometry? { get set }
    /// The value of an attribute; nil when it has none.
    func attributeValue(forKey key: String) -> (any Sendable)?
    /// Sets an attribute; nil clears it.
    func setAttributeValue(_ value: (any Sendable)?, forKey key: String)
}
