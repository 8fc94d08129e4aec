import FieldworkGeometry
import FieldworkLocator
import FieldworkREST

/// Writes answers of a locator in the reference that was asked for.
struct GeocodeOutput {
    let reference: SpatialReference
    private let transform: ProjectionTransform

    init(_ reference: SpatialReference) throws(ServiceError) {
        self.reference = reference
        do {
            transform = try ProjectionTransform.between(.wgs84, reference)
        } catch {
            throw .invalidParameter("'outSR': \(error.details)")
        }
    }

    var referenceJSON: JSONValue { GeoServicesJSON.json(for: reference) }

    static func projected(
        _ x: Double, _ y: Double, from source: SpatialReference, to target: SpatialReference
    ) -> (x: Double, y: Double)? {
        guard let transform = try? ProjectionTransform.between(source, target) else { return nil }
        var (xs, ys) = ([x], [y])
        transform.apply(xs: &xs, ys: &ys)
        return xs[0].isFinite && ys[0].isFinite ? (xs[0], ys[0]) : nil
    }

    private func projected(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        var (xs, ys) = ([x], [y])
        transform.apply(xs: &xs, ys: &ys)
        return (xs[0], ys[0])
    }

    /// Results whose place on the street was not looked for have the house itself there.
    private func place(_ result: LocatorResult) -> JSONValue {
        let (x, y) = projected(result.routeX, result.routeY)
        return ["x": .number(x), "y": .number(y)]
    }

    private func extent(_ result: LocatorResult) -> JSONValue {
        let extent = result.extent
        let (low, high) = (projected(extent.xMin, extent.yMin), projected(extent.xMax, extent.yMax))
        guard low.x.isFinite, low.y.isFinite, high.x.isFinite, high.y.isFinite else { return .null }
        return ["xmin": .number(low.x), "ymin": .number(low.y), "xmax": .number(high.x), "ymax": .number(high.y)]
    }

    private static func attributes(
        _ result: LocatorResult, _ fields: Set<String>?, _ locator: String, status: String? = nil
    ) -> JSONObject {
        var object = JSONObject()
        guard let fields else { return object }
        for (name, value) in ResultAttributes.ofCandidate(result, locator: locator)
        where fields.contains("*") || fields.contains(name.lowercased()) {
            switch value {
            case .text(let text): object[name] = .string(name == "Status" ? status ?? text : text)
            case .number(let number): object[name] = .number(number)
            }
        }
        return object
    }

    func candidate(_ result: LocatorResult, fields: Set<String>?, locator: String) throws(ServiceError) -> JSONValue {
        [
            "address": .string(result.label), "location": place(result), "score": .number(result.score),
            "attributes": .object(Self.attributes(result, fields, locator)), "extent": extent(result),
        ]
    }

    /// One record of a batch: what was found for it, or that nothing was.
    func location(
        _ results: [LocatorResult], id: JSONValue, fields: Set<String>?, locator: String
    ) throws(ServiceError) -> JSONValue {
        guard let best = results.first else {
            return ["address": "", "score": 0, "attributes": ["ResultID": id, "Status": "U"]]
        }
        let isTied = results.count > 1 && best.score - results[1].score < 0.5 && best.kind == results[1].kind
        var attributes = Self.attributes(best, fields, locator, status: isTied ? "T" : "M")
        attributes["ResultID"] = id
        attributes["Status"] = .string(isTied ? "T" : "M")
        return [
            "address": .string(best.label), "location": place(best), "score": .number(best.score),
            "attributes": .object(attributes),
        ]
    }

    /// The answer to `reverseGeocode`.
    func address(_ result: LocatorResult, _ question: ReverseRequest) throws(ServiceError) -> JSONValue {
        var address = JSONObject()
        let fields = question.fields
        for (name, value) in ResultAttributes.ofPlace(result)
        where fields == nil || fields?.contains("*") == true || fields?.contains(name.lowercased()) == true {
            address[name] = .string(value)
        }
        if question.tellsInput {
            address["InputX"] = .number(question.x)
            address["InputY"] = .number(question.y)
        }
        let place = projected(result.routeX, result.routeY)
        return [
            "address": .object(address),
            "location": ["x": .number(place.x), "y": .number(place.y), "spatialReference": referenceJSON],
        ]
    }
}
