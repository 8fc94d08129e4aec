import ArcGIS
import Foundation

/// The members of geometry that clients rely on, each with the type that they rely on. That it compiles is the test.
enum GeometrySignatures {
    static func geometry() {
        let _: KeyPath<Geometry, SpatialReference?> = \.spatialReference
        let _: KeyPath<Geometry, Envelope> = \.extent
        let _: KeyPath<Geometry, Bool> = \.isEmpty
        let _: KeyPath<Geometry, Bool> = \.hasZ
        let _: KeyPath<Geometry, Bool> = \.hasM
        let _: KeyPath<Geometry, Bool> = \.hasCurves
        let _: KeyPath<Geometry, Bool> = \.sketchIsValid
    }

    static func point() {
        let _: (Double, Double, SpatialReference?) -> Point = Point.init(x:y:spatialReference:)
        let _: (Double, Double, Double?, Double?, SpatialReference?) -> Point = Point.init(x:y:z:m:spatialReference:)
        let _: (Double, Double) -> Point = Point.init(latitude:longitude:)
        let _: KeyPath<Point, Double> = \.x
        let _: KeyPath<Point, Double> = \.y
        let _: KeyPath<Point, Double?> = \.z
        let _: KeyPath<Point, Double?> = \.m
    }

    static func multipart() {
        let _: KeyPath<Multipart, PartCollection> = \.parts
    }

    static func polygon() {
        let _: ([MutablePart]) -> Polygon = Polygon.init(parts:)
    }

    static func envelope() {
        let _: (Double, Double, Double, Double, SpatialReference?) -> Envelope = Envelope.init(
            xMin:yMin:xMax:yMax:spatialReference:)
        let _: (Point, Point) -> Envelope = Envelope.init(min:max:)
        let _: (Point, Double, Double, Double?) -> Envelope = Envelope.init(center:width:height:depth:)
        let _: KeyPath<Envelope, Double> = \.yMax
        let _: KeyPath<Envelope, Double?> = \.mMax
        let _: KeyPath<Envelope, Double> = \.width
        let _: KeyPath<Envelope, Double> = \.height
        let _: KeyPath<Envelope, Point> = \.center
    }

    static func segment() {
        let _: KeyPath<Segment, Point> = \.startPoint
        let _: KeyPath<Segment, Point> = \.endPoint
        let _: KeyPath<Segment, Bool> = \.isCurve
        let _: KeyPath<Segment, Bool> = \.isClosed
        let _: KeyPath<Segment, SpatialReference?> = \.spatialReference
    }

    static func cubicBezierSegment() {
        let _: (Point, Point, Point, Point, SpatialReference?) -> CubicBezierSegment = CubicBezierSegment.init(
            startPoint:controlPoint1:controlPoint2:endPoint:spatialReference:)
    }

    static func ellipticArcSegment() {
        let _: (Point, Double, Double, Double, SpatialReference?) -> EllipticArcSegment = EllipticArcSegment
            .makeCircular(centerPoint:radius:startAngle:centralAngle:spatialReference:)
    }

    static func mutablePart() {
        let _: ([Point], SpatialReference?) -> MutablePart = MutablePart.init(points:spatialReference:)
        let _: ([Segment], SpatialReference?) -> MutablePart = MutablePart.init(segments:spatialReference:)
    }

    static func geometryBuilder() {
        let _: KeyPath<GeometryBuilder, Envelope?> = \.extent
        let _: KeyPath<GeometryBuilder, SpatialReference?> = \.spatialReference
        let _: (GeometryBuilder) -> () -> Geometry = GeometryBuilder.toGeometry
    }

    static func multipointBuilder() {
        let _: (SpatialReference?) -> MultipointBuilder = MultipointBuilder.init(spatialReference:)
        let _: (Multipoint) -> MultipointBuilder = MultipointBuilder.init(multipoint:)
        let _: KeyPath<MultipointBuilder, MutablePointCollection> = \.points
    }

    static func polylineBuilder() {
        let _: (SpatialReference?) -> PolylineBuilder = PolylineBuilder.init(spatialReference:)
        let _: (Polyline) -> PolylineBuilder = PolylineBuilder.init(polyline:)
        let _: (PolylineBuilder) -> (Point) -> Void = PolylineBuilder.add(_:)
        let _: KeyPath<PolylineBuilder, MutablePartCollection> = \.parts
    }

    static func polygonBuilder() {
        let _: (SpatialReference?) -> PolygonBuilder = PolygonBuilder.init(spatialReference:)
        let _: (Polygon) -> PolygonBuilder = PolygonBuilder.init(polygon:)
        let _: (PolygonBuilder) -> (Point) -> Void = PolygonBuilder.add(_:)
    }

    static func envelopeBuilder() {
        let _: (Envelope?) -> EnvelopeBuilder = EnvelopeBuilder.init(envelope:)
        let _: (SpatialReference?) -> EnvelopeBuilder = EnvelopeBuilder.init(spatialReference:)
        let _: (EnvelopeBuilder) -> (Double) -> Void = EnvelopeBuilder.expand(by:)
    }

    static func spatialReference() {
        let _: [SpatialReference] = [.webMercator, .wgs84]
        let _: (WKID, WKID?) -> SpatialReference? = SpatialReference.init(wkid:verticalWKID:)
    }

    static func wkiD() {
        let _: (Int) -> WKID? = WKID.init(_:)
    }

    static func geometryEngine() {
        let _: (Geometry) -> Geometry? = GeometryEngine.normalizeCentralMeridian(of:)
        let _: (Geometry, Double) -> Polygon? = GeometryEngine.buffer(around:distance:)
        let _: (Geometry, Double, LinearUnit?, Double, GeodeticCurveType) -> Polygon? = GeometryEngine.geodeticBuffer(
            around:distance:distanceUnit:maxDeviation:curveType:)
        let _: (Geometry, Geometry) -> Geometry? = GeometryEngine.union(_:_:)
        let _: ([Geometry]) -> Geometry? = GeometryEngine.union(of:)
        let _: (Geometry, Geometry) -> Geometry? = GeometryEngine.intersection(_:_:)
        let _: (Geometry, Geometry) -> Geometry? = GeometryEngine.difference(_:_:)
        let _: (Geometry, Geometry) -> Geometry? = GeometryEngine.symmetricDifference(_:_:)
        let _: (Geometry, Envelope) -> Geometry? = GeometryEngine.clip(_:to:)
        let _: (Geometry, Polyline) -> [Geometry] = GeometryEngine.cut(_:usingCutter:)
        let _: (Geometry) -> Geometry? = GeometryEngine.convexHull(for:)
        let _: ([Geometry], Bool) -> [Geometry] = GeometryEngine.convexHull(for:shouldMerge:)
        let _: (Geometry) -> Geometry? = GeometryEngine.simplify(_:)
        let _: (Geometry) -> Bool = GeometryEngine.isSimple(_:)
        let _: (Geometry, Double, Bool) -> Geometry? = GeometryEngine.generalize(_:maxDeviation:removeDegenerateParts:)
        let _: (Geometry, Double) -> Geometry? = GeometryEngine.densify(_:maxSegmentLength:)
        let _: (Geometry, Double, LinearUnit, GeodeticCurveType) -> Geometry? = GeometryEngine.geodeticDensify(
            _:maxSegmentLength:lengthUnit:curveType:)
        let _: (Geometry) -> Double = GeometryEngine.length(of:)
        let _: (Geometry, LinearUnit, GeodeticCurveType) -> Double = GeometryEngine.geodeticLength(
            of:lengthUnit:curveType:)
        let _: (Geometry, Geometry) -> Double? = GeometryEngine.distance(from:to:)
        let _: (Point, Point, LinearUnit?, AngularUnit?, GeodeticCurveType) -> GeodeticDistanceResult? = GeometryEngine
            .geodeticDistance(from:to:distanceUnit:azimuthUnit:curveType:)
        let _: ([Point], Double, LinearUnit?, Double, AngularUnit?, GeodeticCurveType) -> [Point] = GeometryEngine
            .geodeticMove(_:distance:distanceUnit:azimuth:azimuthUnit:curveType:)
        let _: (Geometry, Point) -> ProximityResult? = GeometryEngine.nearestCoordinate(in:to:)
        let _: (Geometry, Point) -> ProximityResult? = GeometryEngine.nearestVertex(in:to:)
        let _: (Polyline, Point, Double) -> Double = GeometryEngine.polyline(_:fractionalLengthClosestTo:tolerance:)
        let _: (Polyline, Double) -> Point? = GeometryEngine.point(along:distance:)
        let _: (Geometry, Geometry) -> Bool = GeometryEngine.doesGeometry(_:contain:)
        let _: (Geometry, Geometry) -> Bool = GeometryEngine.isGeometry(_:within:)
        let _: (Geometry, Geometry) -> Bool = GeometryEngine.isGeometry(_:intersecting:)
        let _: (Geometry, Geometry) -> Bool = GeometryEngine.isGeometry(_:touching:)
        let _: (Geometry, Geometry) -> Bool = GeometryEngine.isGeometry(_:crossing:)
        let _: (Geometry, Geometry) -> Bool = GeometryEngine.isGeometry(_:overlapping:)
        let _: (Geometry, Geometry) -> Bool = GeometryEngine.isGeometry(_:disjointWith:)
        let _: ([Geometry]) -> Envelope? = GeometryEngine.combineExtents(of:)
        let _: (Geometry, Double?) -> Geometry = GeometryEngine.makeGeometry(from:z:)
    }
    static func geometryEditor() {
        let _: () -> GeometryEditor = GeometryEditor.init
        let _: WritableKeyPath<GeometryEditor, GeometryEditorTool> = \.tool
        let _: KeyPath<GeometryEditor, Geometry?> = \.geometry
        let _: [KeyPath<GeometryEditor, Bool>] = [\.isStarted, \.canUndo, \.canRedo]
        let _: [KeyPath<GeometryEditor, GeometryEditorElement?>] = [
            \.selectedElement, \.hoveredElement, \.pickedUpElement,
        ]
        let _: KeyPath<GeometryEditor, SnapSettings> = \.snapSettings
        let _: (GeometryEditor) -> (Geometry.Type) -> Void = GeometryEditor.start(withType:)
        let _: (GeometryEditor) -> (Geometry) -> Void = GeometryEditor.start(withInitial:)
        let _: (GeometryEditor) -> () -> Geometry? = GeometryEditor.stop
        let _: [(GeometryEditor) -> () -> Void] = [
            GeometryEditor.undo, GeometryEditor.redo, GeometryEditor.clearGeometry, GeometryEditor.clearSelection,
            GeometryEditor.deleteSelectedElement, GeometryEditor.cancelCurrentAction,
        ]
        let _: (GeometryEditor) -> (Int, Int) -> Void = GeometryEditor.selectVertexAt(partIndex:vertexIndex:)
        let _: (GeometryEditor) -> (Int, Int) -> Void = GeometryEditor.selectMidVertexAt(partIndex:segmentIndex:)
    }

    static func snapSettings() {
        let _: [WritableKeyPath<SnapSettings, Bool>] = [\.isEnabled, \.snapsToFeatures, \.snapsToGeometryGuides]
        let _: WritableKeyPath<SnapSettings, Double> = \.tolerance
    }
}
