import { createRoot } from "react-dom/client";
import { start } from "./state/effects/start";
import { App } from "./ui/App";
import "./styles/index.css";

start();
createRoot(document.getElementById("root")!).render(<App />);
