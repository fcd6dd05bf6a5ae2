/* @ts-self-types="./sdk-sign-in.d.ts" */
import{createClient as ie}from"./sdk.js";var l=(e,t={},...n)=>{let o=document.createElement(e);for(let[r,i]of Object.entries(t))typeof i=="function"?o.addEventListener(r.slice(2),i):i===!0?o.setAttribute(r,""):i!==void 0&&i!==!1&&o.setAttribute(r,i);return o.append(...n.filter(r=>r instanceof Node||typeof r=="string")),o},h=(e,t,{hint:n,...o}={})=>{let r=n===void 0?{}:{"aria-describedby":`${e}-hint`};return l("div",{class:"field",part:"field"},l("label",{for:e,part:"label"},t),l("input",{id:e,name:e,part:"input",...r,...o}),n!==void 0&&l("div",{id:`${e}-hint`,class:"hint",part:"hint"},n))},c=(e,t,n="plain")=>l("button",{type:"button",class:n,part:`button ${n}`,onclick:t},e),y=e=>l("button",{type:"submit",class:"primary",part:"button primary"},e),x=(e,t,n=!1)=>l("div",{class:"check"},l("input",{id:e,name:e,type:"checkbox",value:"yes",checked:n}),l("label",{for:e},t));var T={email:"E-mail",password:"Password",name:"Name",passwordRule:"At least 8 characters.",signIn:"Sign in",signUp:"Sign up",toSignUp:"New here? Sign up",toSignIn:"Have an account? Sign in",forgot:"Forgot password?",forgotTitle:"Choose a new password",forgotSays:"A link for a new password is mailed to this address.",forgotSend:"Mail the link",forgotten:"If there is such an account, a link for a new password is on its way.",signInWith:"Continue with {provider}",passkey:"Use a passkey",code:"Code",codeTitle:"Sign in by a code",codeSays:"A code of six digits is mailed to this address. It needs no password.",codeSend:"Mail me a code",codeSent:"If {email} can sign in here, a code is on its way. It is good for 10 minutes.",codeAgain:"Mail another code",factorTitle:"One more step",factorSays:"Type the code that your authenticator app shows, or one of your recovery codes.",factorCode:"Code of the app",factorSend:"Go on",remember:"Do not ask again on this device for 30 days",guest:"Continue as guest",asGuest:"You are here as a guest. With an account, what you have made stays yours on every device.",mergeGuest:"Bring along what I have made as a guest",back:"Back",or:"or",wait:"One moment …",signedIn:"You are signed in",signedInAs:"Signed in as {who}",unconfirmed:"Confirm your address: follow the link that was mailed to {email}.",sendLinkAgain:"Mail the link again",linkSent:"A new link is on its way to {email}.",signOut:"Sign out",unreachable:"The server can not be reached. Look at your connection, then try again.",later:"Too many attempts. Try again {when}.",busy:"The server is busy. Try again in a moment.",missing:"Fill in: {field}.",noEmail:"This is no e-mail address: {value}",short:"The password needs at least 8 characters.",weak:"This password is easy to guess. Choose another, such as three words that have nothing to do with each other.",misplaced:"This form is not set up: it needs the id of a project."},f=(e,t)=>e.replace(/\{(\w+)\}/g,(n,o)=>t[o]??n);var J=e=>{let[t,n]=e<100?[e,"second"]:[Math.ceil(e/60),"minute"];return new Intl.RelativeTimeFormat(void 0,{numeric:"always"}).format(t,n)},K=new Set(["sign_up_closed","email_taken"]),P=(e,t)=>{let{status:n,code:o="",hint:r,message:i,retryAfterSeconds:s}=e;return n===0&&o==="network"?t.unreachable:n===429&&s?f(t.later,{when:J(s)}):n!==void 0&&n>=500?t.busy:o==="password_too_weak"?t.weak:r&&K.has(o)&&!/setting|secret key|"merge"/.test(r)?`${i} ${r}`:i},U=({code:e})=>{if(e==="invalid_credentials"||e==="password_too_weak")return"password";if(e==="email_taken"||e==="sign_up_closed")return"email"},W=(e,t)=>{let{validity:n}=e;if(!n.valid)return n.valueMissing?f(t.missing,{field:e.labels?.[0]?.textContent??e.name}):n.typeMismatch?f(t.noEmail,{value:e.value}):n.tooShort?t.short:e.validationMessage};var Q=e=>Object.fromEntries([...new FormData(e)].map(([t,n])=>[t,String(n)])),A=(e,t,n,o)=>{let r=l(`h${n}`,{part:"title",tabindex:"-1"}),i=l("p",{class:"says",part:"says"}),s=l("p",{class:"problem",part:"problem",role:"alert"}),g=l("p",{class:"notice",part:"notice",role:"status"}),u=l("div",{class:"content"}),p=l("form",{part:"form",novalidate:!0},r,i,s,g,u);e.append(p);let w,m=!1,S=!1;for(let a of["pointerdown","keydown"])p.addEventListener(a,()=>{S=!0});let b=a=>{m=a,p.setAttribute("aria-busy",String(a));for(let d of p.querySelectorAll("button"))d.disabled=a},v=()=>{s.textContent="",g.textContent="";for(let a of p.querySelectorAll("[aria-invalid]"))a.removeAttribute("aria-invalid")},L=(a,d)=>{s.textContent=a,d?.setAttribute("aria-invalid","true"),d?.focus()},D=a=>{let d=U(a),k=d&&p.querySelector(`#${d}`);L(P(a,t),k||void 0)},Y=()=>{for(let a of p.querySelectorAll("input")){let d=W(a,t);if(d!==void 0)return v(),L(d,a),!0}return!1},H=async a=>{if(m)return;v(),b(!0);let d;try{await a()}catch(k){d=k}finally{b(!1)}d&&!o(d)&&D(d)};return p.addEventListener("submit",a=>{a.preventDefault();let{onSubmit:d}=w??{};d&&!m&&!Y()&&H(()=>d(Q(p)))}),{attempt:H,notify(a){g.textContent=a},show(a){if(w=a,v(),r.textContent=a.title,i.replaceChildren(...a.says?[a.says]:[]),u.replaceChildren(...(a.content??[]).filter(k=>k instanceof Node||typeof k=="string")),b(m),!S)return;(u.querySelector("input:not([readonly])")??r).focus()}}};var X={google:{box:18,shapes:[["M17.64 9.2c0-.637-.057-1.251-.164-1.84H9v3.481h4.844c-.209 1.125-.843 2.078-1.796 2.717v2.258h2.908c1.702-1.567 2.684-3.874 2.684-6.615z","#4285f4"],["M9 18c2.43 0 4.467-.806 5.956-2.18l-2.908-2.259c-.806.54-1.837.86-3.048.86-2.344 0-4.328-1.584-5.036-3.711H.957v2.332A8.997 8.997 0 0 0 9 18z","#34a853"],["M3.964 10.71A5.41 5.41 0 0 1 3.682 9c0-.593.102-1.17.282-1.71V4.958H.957A8.996 8.996 0 0 0 0 9c0 1.452.348 2.827.957 4.042l3.007-2.332z","#fbbc05"],["M9 3.58c1.321 0 2.508.454 3.44 1.345l2.582-2.58C13.463.891 11.426 0 9 0A8.997 8.997 0 0 0 .957 4.958L3.964 7.29C4.672 5.163 6.656 3.58 9 3.58z","#ea4335"]]},github:{box:16,shapes:[["M8 0C3.58 0 0 3.58 0 8c0 3.54 2.29 6.53 5.47 7.59.4.07.55-.17.55-.38 0-.19-.01-.82-.01-1.49-2.01.37-2.53-.49-2.69-.94-.09-.23-.48-.94-.82-1.13-.28-.15-.68-.52-.01-.53.63-.01 1.08.58 1.23.82.72 1.21 1.87.87 2.33.66.07-.52.28-.87.51-1.07-1.78-.2-3.64-.89-3.64-3.95 0-.87.31-1.59.82-2.15-.08-.2-.36-1.02.08-2.12 0 0 .67-.21 2.2.82.64-.18 1.32-.27 2-.27.68 0 1.36.09 2 .27 1.53-1.04 2.2-.82 2.2-.82.44 1.1.16 1.92.08 2.12.51.56.82 1.27.82 2.15 0 3.07-1.87 3.75-3.65 3.95.29.25.54.73.54 1.48 0 1.07-.01 1.93-.01 2.2 0 .21.15.46.55.38A8.013 8.013 0 0 0 16 8c0-4.42-3.58-8-8-8z"]]},microsoft:{box:17,shapes:[["M0 0h8v8H0z","#f25022"],["M9 0h8v8H9z","#7fba00"],["M0 9h8v8H0z","#00a4ef"],["M9 9h8v8H9z","#ffb900"]]}},Z="http://www.w3.org/2000/svg",R=(e,t)=>{let n=document.createElementNS(Z,e);for(let[o,r]of Object.entries(t))n.setAttribute(o,r);return n},q=e=>{let t=X[e];if(!t)return;let{box:n,shapes:o}=t,r=R("svg",{viewBox:`0 0 ${n} ${n}`,"aria-hidden":"true"});for(let[i,s="currentcolor"]of o)r.append(R("path",{d:i,fill:s}));return r};var ee=(e,{name:t,label:n})=>{let o=f(e.words.signInWith,{provider:n}),r=c(o,()=>{e.attempt(async()=>e.enter(await e.auth.signInWith(t,e.merge())))}),i=q(t);return i&&r.prepend(i),r},C=({guest:e,kept:t,words:n})=>{if(!e)return!1;let o=x("merge",n.mergeGuest,t.merges);return o.addEventListener("change",({target:r})=>{t.merges=r.checked}),o},te=(e,t)=>{let{words:n,ways:o}=e,r=[...o.providers.map(i=>ee(e,i)),...o.passkeys?[c(n.passkey,()=>e.withPasskey())]:[],...o.codes?[c(n.codeSend,t("code"))]:[]];return r.length===0?[]:[l("div",{class:"ways"},...r),l("div",{class:"or"},n.or)]},ne=(e,t,n)=>{let{words:o,ways:r,guest:i}=e,s=()=>{e.attempt(async()=>e.enter(await e.auth.guest()))};return l("div",{class:"links"},t?c(o.toSignIn,n("signIn"),"link"):r.signUp&&c(o.toSignUp,n("signUp"),"link"),!t&&c(o.forgot,n("forgot"),"link"),r.guests&&!i&&c(o.guest,s,"link"))},z=(e,t)=>{let{auth:n,words:o,kept:r,guest:i}=e,s=t==="signUp",g=h("email",o.email,{type:"email",autocomplete:"username",required:!0,value:r.email}),u=m=>g.getRootNode().querySelector(`#${m}`)?.value,p=()=>{r.email=u("email")??r.email,r.name=u("name")??r.name},w=m=>()=>{p(),e.go(m)};return{title:o[t],...i&&{says:o.asGuest},content:[...te(e,w),g,h("password",o.password,{type:"password",autocomplete:s?"new-password":"current-password",required:!0,maxlength:s?"128":"1024",...s&&{minlength:"8",hint:o.passwordRule}}),s&&h("name",o.name,{autocomplete:"name",maxlength:"100",value:r.name}),!s&&C(e),y(o[t]),ne(e,s,w)],async onSubmit({email:m="",password:S="",name:b=""}){p();let v={email:m,password:S};e.enter(s?await n.signUp({...v,...b!==""&&{name:b}}):await n.signIn({...v,...e.merge()}))}}};var E=(e,t={})=>h("code",e,{class:"code",autocomplete:"one-time-code",autocapitalize:"off",spellcheck:"false",maxlength:"40",required:!0,...t}),oe=(e,t)=>{let{auth:n,words:o}=e;return{title:o.codeTitle,says:f(o.codeSent,{email:t}),content:[E(o.code,{inputmode:"numeric"}),C(e),y(o.signIn),c(o.codeAgain,()=>{e.attempt(()=>O(e,t))},"link"),c(o.back,()=>e.go("code"),"link")],async onSubmit({code:r=""}){let i={email:t,code:r.replace(/\D/g,"")};e.enter(await n.verifyCode({...i,...e.merge()}))}}},O=async(e,t)=>{await e.auth.code(t),e.show(oe(e,t))},$=e=>{let{words:t,kept:n}=e;return{title:t.codeTitle,says:t.codeSays,content:[h("email",t.email,{type:"email",autocomplete:"username",required:!0,value:n.email}),y(t.codeSend),c(t.back,()=>e.go("signIn"),"link")],async onSubmit({email:o=""}){n.email=o,await O(e,o)}}};var N=e=>{let{auth:t,words:n}=e;return{title:n.factorTitle,says:n.factorSays,content:[E(n.factorCode),x("remember",n.remember),y(n.factorSend),e.ways.passkeys&&c(n.passkey,()=>e.withPasskey()),c(n.back,()=>e.go("signIn"),"link")],async onSubmit({code:o="",remember:r}){e.enter(await t.verifyFactor(o,r==="yes"))}}};var V=e=>{let{auth:t,words:n,kept:o}=e,r=()=>e.go("signIn");return{title:n.forgotTitle,says:n.forgotSays,content:[h("email",n.email,{type:"email",autocomplete:"username",required:!0,value:o.email}),y(n.forgotSend),c(n.back,r,"link")],async onSubmit({email:i=""}){o.email=i,await t.forgotPassword(i),r(),e.notify(n.forgotten)}}};var F=(e,t)=>{let{auth:n,words:o}=e,{email:r}=t,i=r===null||t.emailVerified?[]:[l("p",{class:"says"},f(o.unconfirmed,{email:r})),c(o.sendLinkAgain,()=>{e.attempt(async()=>{await n.resendVerification(),e.notify(f(o.linkSent,{email:r}))})})];return{title:o.signedIn,says:f(o.signedInAs,{who:t.name??t.email??""}),content:[...i,c(o.signOut,()=>{e.attempt(async()=>{await n.signOut(),e.go("signIn")})})]}};var re=`
:host {
  color-scheme: light dark;
  --_ink: var(--backlot-ink, light-dark(#16181d, #eceef1));
  --_quiet: var(--backlot-quiet, light-dark(#565d68, #a3aab6));
  --_surface: var(--backlot-surface, light-dark(#ffffff, #1b1d21));
  --_control: var(--backlot-control, light-dark(#ffffff, #141518));
  --_line: var(--backlot-line, light-dark(#e3e5e9, #2b2e34));
  --_field-line: var(--backlot-field-line, light-dark(#8a919d, #6f7784));
  --_accent: var(--backlot-accent, light-dark(#2456c4, #8fb0ff));
  --_on-accent: var(--backlot-on-accent, light-dark(#ffffff, #0f1a33));
  --_bad: var(--backlot-bad, light-dark(#b3261e, #ff8f86));
  --_good: var(--backlot-good, light-dark(#17693a, #6fcf97));
  --_radius: var(--backlot-radius, 6px);
  --_font: var(--backlot-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  --_width: var(--backlot-width, 24rem);
  --_edge: 1px;
  display: block;
  box-sizing: border-box;
  max-width: var(--_width);
  padding: 1.5rem;
  border: var(--_edge) solid var(--_line);
  border-radius: calc(var(--_radius) * 1.5);
  background: var(--_surface);
  color: var(--_ink);
  font: 1rem/1.5 var(--_font);
}
:host([hidden]) { display: none; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
:host([theme="plain"]) {
  color-scheme: inherit;
  --_ink: var(--backlot-ink, inherit);
  --_quiet: var(--backlot-quiet, inherit);
  --_surface: var(--backlot-surface, transparent);
  --_font: var(--backlot-font, inherit);
  padding: 0;
  border: 0;
  font: inherit;
  max-width: var(--backlot-width, none);
}
:host([theme="contrast"]) {
  --_ink: var(--backlot-ink, light-dark(#000000, #ffffff));
  --_quiet: var(--backlot-quiet, light-dark(#000000, #ffffff));
  --_surface: var(--backlot-surface, light-dark(#ffffff, #000000));
  --_control: var(--backlot-control, light-dark(#ffffff, #000000));
  --_line: var(--backlot-line, light-dark(#000000, #ffffff));
  --_field-line: var(--backlot-field-line, light-dark(#000000, #ffffff));
  --_accent: var(--backlot-accent, light-dark(#00309c, #ffe45c));
  --_on-accent: var(--backlot-on-accent, light-dark(#ffffff, #000000));
  --_bad: var(--backlot-bad, light-dark(#8c0009, #ffb3ab));
  --_good: var(--backlot-good, light-dark(#00461d, #8df0b4));
  --_edge: 2px;
}
*, ::before, ::after { box-sizing: border-box; }
form, .content, .ways { display: grid; gap: 1rem; }
.content:empty, .ways:empty, .links:empty, p:empty { display: none; }
h1, h2, h3 { margin: 0; font: 600 1.25rem/1.4 var(--_font); overflow-wrap: anywhere; outline: none; }
p { margin: 0; overflow-wrap: anywhere; }
.says, .hint { color: var(--_quiet); }
.hint { font-size: 0.875rem; }
.problem { color: var(--_bad); font-weight: 500; }
.notice { color: var(--_good); font-weight: 500; }
.field { display: grid; gap: 0.25rem; }
label { font-weight: 500; }
input, button { font: inherit; color: inherit; min-height: 2.75rem; border-radius: var(--_radius); }
input {
  width: 100%;
  min-width: 0;
  padding: 0.5rem 0.75rem;
  border: var(--_edge) solid var(--_field-line);
  background: var(--_control);
}
input[readonly] { background: transparent; }
input[aria-invalid="true"] { border-color: var(--_bad); }
input[type="checkbox"] { width: 1.25rem; min-height: 1.25rem; margin: 0; accent-color: var(--_accent); }
.check { display: flex; align-items: center; gap: 0.5rem; }
.check label { font-weight: 400; }
.code { font-variant-numeric: tabular-nums; letter-spacing: 0.25em; }
button {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  gap: 0.75rem;
  padding: 0.5rem 1rem;
  border: var(--_edge) solid var(--_field-line);
  background: var(--_control);
  font-weight: 500;
  cursor: pointer;
}
button:hover { border-color: var(--_ink); }
button.primary { border-color: transparent; background: var(--_accent); color: var(--_on-accent); }
button.primary:hover { filter: brightness(0.94); }
button.link {
  min-height: 1.5rem;
  padding: 0;
  border: 0;
  background: none;
  color: var(--_accent);
  text-decoration: underline;
  text-underline-offset: 0.2em;
  text-align: start;
}
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
button svg { width: 1.25rem; height: 1.25rem; flex: none; }
.links { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.5rem 1.5rem; }
.content > .link { justify-self: start; }
.or { display: flex; align-items: center; gap: 0.75rem; color: var(--_quiet); }
.or::before, .or::after { content: ""; flex: 1; border-block-start: 1px solid var(--_line); }
:host([theme="plain"]) button.link { color: var(--backlot-accent, inherit); }
:host([theme="plain"]) button.primary {
  border-color: currentcolor;
  background: var(--backlot-accent, transparent);
  color: var(--backlot-on-accent, inherit);
}
:host([theme="plain"]) :is(.problem, .notice, .says, .hint) { color: inherit; }
:host([theme="plain"]) :is(h1, h2, h3) { font: inherit; font-size: 1.25em; font-weight: 600; }
@media (forced-colors: active) { button { border-color: ButtonText; } }
`,_,G=()=>(_||(_=new CSSStyleSheet,_.replaceSync(re)),_);var I={providers:[],signUp:!0,codes:!1,guests:!1,passkeys:!1},j=e=>e.ways().catch(()=>I);var se=globalThis.HTMLElement??class{},ae=()=>new URL(import.meta.url).origin,B=e=>{let t=Number(e.getAttribute("heading-level")??2);return t===1||t===3?t:2},le=["signIn","signUp","forgot","code"],ce=(e,t)=>t==="forgot"?V(e):t==="code"?$(e):z(e,t),M=class extends se{#e=!1;connectedCallback(){if(this.#e)return;this.#e=!0;let t=this.attachShadow({mode:"open"});t.adoptedStyleSheets=[G()],this.#r(t)}#t(){let t=this.getAttribute("project"),n=this.getAttribute("base")??(t&&`${ae()}/api/runtime/${encodeURIComponent(t)}`);return this.client??(n?ie(n):void 0)}#n({guest:t,ways:n}){let o=this.getAttribute("start")??(t&&n.signUp?"signUp":"signIn");return le.includes(o)?o:"signIn"}#o(t,{auth:n}){let o={...T,...this.words},i={...A(t,o,B(this),({code:s})=>s!=="factor_required"?!1:(i.show(N(i)),!0)),auth:n,words:o,ways:I,guest:void 0,kept:{email:this.getAttribute("email")??"",name:"",merges:!0},merge:()=>i.guest?{merge:i.kept.merges}:{},go:s=>i.show(ce(i,s)),withPasskey:()=>{i.attempt(async()=>i.enter(await n.signInWithPasskey(i.merge())))},enter:s=>{i.guest=s.isGuest?s:void 0,i.show(F(i,s)),this.#i(s)}};return i}async#r(t){let n=this.#t();if(!n){let u={...T,...this.words};A(t,u,B(this),()=>!1).show({title:u.signIn,says:u.misplaced});return}let{auth:o}=n,r=this.#o(t,n);r.show({title:r.words.signIn,says:r.words.wait});let[i,s]=await Promise.all([j(o),o.me().catch(()=>null)]),g=u=>this.getAttribute(u)!=="false";r.ways={...i,signUp:i.signUp&&g("can-sign-up"),guests:i.guests&&g("can-be-guest")},s&&!s.isGuest?r.show(F(r,s)):(r.guest=s??void 0,r.go(this.#n(r))),await r.attempt(async()=>{let u=await o.finishSignIn();u&&r.enter(u)})}#i(t){let n={user:t};this.dispatchEvent(new CustomEvent("signed-in",{detail:n,bubbles:!0,composed:!0}))}};globalThis.customElements?.get("backlot-sign-in")===void 0&&globalThis.customElements?.define("backlot-sign-in",M);export{M as BacklotSignIn};
//# sourceMappingURL=sdk-sign-in.js.map
