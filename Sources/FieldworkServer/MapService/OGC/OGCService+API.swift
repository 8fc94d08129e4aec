import FieldworkGeometry
import FieldworkREST

extension OGCService {
    /// The operations as OpenAPI 3.0 describes them, for programs that make their clients from it.
    var api: JSONValue {
        var paths = JSONObject()
        func add(_ path: String, _ summary: String, type: String = "application/json", _ parameters: [JSONValue] = []) {
            var content = JSONObject()
            content.append(type, [:])
            paths.append(
                path,
                [
                    "get": [
                        "summary": .string(summary), "parameters": .array(parameters),
                        "responses": [
                            "200": ["description": "The answer", "content": .object(content)],
                            "400": ["description": "A parameter can't be read"],
                            "404": ["description": "There is no such thing"],
                        ],
                    ]
                ])
        }
        add("/", "The landing page")
        add("/conformance", "What is conformed to")
        let isVector = face == .vectorTile
        let tiles = isVector ? "/tiles" : "/map/tiles"
        add(tiles, "The sets of tiles")
        add("\(tiles)/\(Self.gridName)", "What the tiles are and where there are some")
        add(
            "\(tiles)/\(Self.gridName)/{tileMatrix}/{tileRow}/{tileCol}", "A tile", type: tileType,
            ["tileMatrix", "tileRow", "tileCol"].map { Self.parameter($0, "path", "integer") })
        add("/tileMatrixSets", "The grids")
        add("/tileMatrixSets/\(Self.gridName)", "The grid of the tiles")
        if !isVector, !layers.isEmpty {
            add("/collections", "The layers")
            add("/collections/{collectionId}", "A layer", [Self.parameter("collectionId", "path", "integer")])
            let asked = [
                Self.parameter("bbox", "query", "string"), Self.parameter("bbox-crs", "query", "string"),
                Self.parameter("crs", "query", "string"), Self.parameter("width", "query", "integer"),
                Self.parameter("height", "query", "integer"), Self.parameter("bgcolor", "query", "string"),
                Self.parameter("transparent", "query", "boolean"), Self.parameter("f", "query", "string"),
            ]
            add("/map", "The map as an image", type: "image/png", asked)
            add(
                "/collections/{collectionId}/map", "A layer as an image", type: "image/png",
                [Self.parameter("collectionId", "path", "integer")] + asked)
        }
        return [
            "openapi": "3.0.3", "info": ["title": .string(title), "version": "1.0.0"],
            "servers": [["url": .string(address)]], "paths": .object(paths),
        ]
    }

    private static func parameter(_ name: String, _ place: String, _ type: String) -> JSONValue {
        [
            "name": .string(name), "in": .string(place), "required": .bool(place == "path"),
            "schema": ["type": .string(type)],
        ]
    }
}
